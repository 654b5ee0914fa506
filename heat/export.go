package heat

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ExportReader counts the items of a table's export in DynamoDB JSON: files with lines such as {"Item":{"pk":{"S":"a"}}},
// plain or compressed by gzip. It is for one goroutine.
type ExportReader struct{ inventory *inventory }

// NewExportReader returns a reader for an export of a table. An export does not name its partition keys, so Options.Keys
// must: "orders" for the table and "orders/byStatus" for an index.
func NewExportReader(table string, options Options) (*ExportReader, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	t := newTable(table)
	for name, partition := range options.Keys {
		of, index, _ := bytes.Cut([]byte(name), []byte("/"))
		if string(of) != table {
			return nil, fmt.Errorf("Options.Keys names table %q, but the export is of table %q", of, table)
		}
		t.setKey(string(index), partition)
	}
	if !t.view.Load().own.names.known() {
		return nil, fmt.Errorf("the partition key of table %q is unknown: name it in Options.Keys", table)
	}
	return &ExportReader{inventory: newInventory(t.view.Load(), "", options)}, nil
}

// maxExportLine is longer than any item: 400 KB, and what JSON and base64 add.
const maxExportLine = 4 << 20

// Read counts the items of one file. Errors name the line. An item without the table's partition key is an error: the file
// is of another table, or Options.Keys is wrong. A file may be empty, as some files of an export are.
func (x *ExportReader) Read(name string, from io.Reader) error {
	plain := bufio.NewReader(from)
	var lines io.Reader = plain
	if head, _ := plain.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return fmt.Errorf("%s: not a file of an export in DynamoDB JSON: %w", name, err)
		}
		lines = unzipped
	}
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, maxExportLine)
	n := 1
	for ; scanner.Scan(); n++ {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		item, err := x.item(line)
		if err != nil {
			return exportError(name, n, cmp.Or(scanner.Err(), err)) // a file that breaks off ends with half a line
		}
		if item != nil {
			x.inventory.add(item)
		}
	}
	if err := scanner.Err(); err != nil {
		return exportError(name, n, err)
	}
	return nil
}

func exportError(name string, line int, err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line is longer than %d MB, more than any item", maxExportLine>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the file is truncated: %w", err)
	}
	return fmt.Errorf("%s, line %d: not an item of an export in DynamoDB JSON: %w", name, line, err)
}

// Report returns what the reader has counted.
func (x *ExportReader) Report() Report {
	now := time.Now().UTC()
	return Report{
		Source: Export, From: now, To: now, Resources: x.inventory.report(1),
		Notes: []string{"an export shows stored items, not reads and writes"},
	}
}

// item reads a line of an export. Incremental exports have NewImage in place of Item. A deletion has neither, and item
// returns nil.
func (x *ExportReader) item(line []byte) (map[string]types.AttributeValue, error) {
	var record struct {
		Item     map[string]json.RawMessage
		NewImage map[string]json.RawMessage
		Keys     map[string]json.RawMessage
		Metadata json.RawMessage
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, err
	}
	fields := record.Item
	if fields == nil {
		fields = record.NewImage
	}
	switch {
	case fields == nil && record.Keys == nil:
		return nil, errors.New("no Item")
	case fields == nil:
		return nil, nil
	}
	item := make(map[string]types.AttributeValue, len(fields))
	for name, raw := range fields {
		value, err := exportValue(raw)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		item[name] = value
	}
	if err := x.keyed(fields); err != nil {
		return nil, err
	}
	return item, x.filled(item)
}

// keyed checks that an item has the partition key of the table, as what a key may be. It need not have those of indexes.
func (x *ExportReader) keyed(fields map[string]json.RawMessage) error {
	for _, name := range x.inventory.resources[0].view.names.partition {
		raw, ok := fields[name]
		if !ok {
			return fmt.Errorf("the item has no attribute %q, which should be the table's partition key", name)
		}
		var kinds struct{ S, N, B json.RawMessage }
		if err := json.Unmarshal(raw, &kinds); err != nil || kinds.S == nil && kinds.N == nil && kinds.B == nil {
			return fmt.Errorf("attribute %q is not a string, number or binary, and cannot be the table's partition key", name)
		}
	}
	return nil
}

// filled checks that an item's partition key has a value that a key may have.
func (x *ExportReader) filled(item map[string]types.AttributeValue) error {
	for _, name := range x.inventory.resources[0].view.names.partition {
		empty := false
		switch value := item[name].(type) {
		case *types.AttributeValueMemberS:
			empty = value.Value == ""
		case *types.AttributeValueMemberB:
			empty = len(value.Value) == 0
		case *types.AttributeValueMemberN:
			if strings.Trim(value.Value, "0123456789+-.eE") != "" || !strings.ContainsAny(value.Value, "0123456789") {
				return fmt.Errorf("attribute %q: %q is not a number", name, value.Value)
			}
		}
		if empty {
			return fmt.Errorf("attribute %q is empty, but a partition key must have a value", name)
		}
	}
	return nil
}

// exportValue reads a value such as {"S":"text"}. What cannot be a key is only wanted for its size, which is about that of
// its JSON.
func exportValue(raw json.RawMessage) (types.AttributeValue, error) {
	var kinds map[string]json.RawMessage
	if err := json.Unmarshal(raw, &kinds); err != nil {
		return nil, err
	}
	if len(kinds) != 1 {
		return nil, fmt.Errorf("a value must have one type, but has %d", len(kinds))
	}
	for kind, raw := range kinds {
		var text string
		switch kind {
		case "S", "N", "B":
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
		case "BOOL", "NULL", "M", "L", "SS", "NS", "BS":
			return &types.AttributeValueMemberB{Value: raw}, nil
		default:
			return nil, fmt.Errorf("unknown type %q", kind)
		}
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: text}, nil
		case "N":
			return &types.AttributeValueMemberN{Value: text}, nil
		}
		data, err := base64.StdEncoding.DecodeString(text)
		return &types.AttributeValueMemberB{Value: data}, err
	}
	return nil, nil
}
