package charter

import (
	"encoding"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// The names of a charter's attributes, in the order of Encode.
const (
	nameVersion        = ledger.Prefix + "v"
	nameNeeds          = ledger.Prefix + "needs"
	nameWidths         = ledger.Prefix + "widths"
	nameStrategy       = ledger.Prefix + "s"
	nameHash           = ledger.Prefix + "h"
	nameFormat         = ledger.Prefix + "format"
	nameBucket         = ledger.Prefix + "bucket"
	nameOlder          = ledger.Prefix + "older"
	nameShardBy        = ledger.Prefix + "shard_by"
	nameTime           = ledger.Prefix + "time"
	nameUnit           = ledger.Prefix + "unit"
	nameTable          = ledger.Prefix + "table"
	namePartitionKey   = ledger.Prefix + "pk"
	nameSortKey        = ledger.Prefix + "sk"
	nameIndex          = ledger.Prefix + "index"
	nameIndexPartition = ledger.Prefix + "index_pk"
	nameIndexSort      = ledger.Prefix + "index_sk"
	nameIndexShard     = ledger.Prefix + "index_shard"
	nameItemVersion    = ledger.Prefix + "version"
	nameBy             = ledger.Prefix + "by"
	nameAt             = ledger.Prefix + "at"
)

// Encode returns the charter as it is stored: equal charters give equal values. All names are there, always, except for
// those of a freeze. Strings may be empty, which DynamoDB allows outside of keys. Lists are in JSON, because a name of an
// attribute may contain anything.
func (c Charter) Encode() []ledger.Value {
	return append([]ledger.Value{
		{Name: nameVersion, Number: true, Text: strconv.Itoa(Version)},
		{Name: nameNeeds, Text: listText(c.Needs)},
		{Name: nameWidths, Text: c.widths()},
		{Name: nameStrategy, Text: c.Layout.Strategy.String()},
		{Name: nameHash, Text: c.Layout.Hash.String()},
		{Name: nameFormat, Text: c.Layout.Format.String()},
		{Name: nameBucket, Text: c.Layout.Bucket.String()},
		{Name: nameOlder, Text: listText(olderList(c.Older))},
		{Name: nameShardBy, Text: listText(c.ShardBy)},
		{Name: nameTime, Text: c.EventTime.Attribute},
		{Name: nameUnit, Text: c.EventTime.Unit},
		{Name: nameTable, Text: c.Table},
		{Name: namePartitionKey, Text: c.PartitionKey},
		{Name: nameSortKey, Text: c.SortKey},
		{Name: nameIndex, Text: c.Index.Name},
		{Name: nameIndexPartition, Text: c.Index.PartitionKey},
		{Name: nameIndexSort, Text: c.Index.SortKey},
		{Name: nameIndexShard, Text: c.Index.ShardAttribute},
		{Name: nameItemVersion, Text: c.VersionAttribute},
		{Name: nameBy, Text: c.By},
		{Name: nameAt, Number: true, Text: strconv.FormatInt(c.At, 10)},
	}, c.Frozen.Encode()...)
}

// Parse reads a charter as it is stored, in any order of its values. It refuses whatever it does not understand: a newer
// version and a need that it does not know with ErrNewer; a name that is missing, unknown or there twice, and what cannot
// be, with ErrCharter.
func Parse(values []ledger.Value) (Charter, error) {
	f := ledger.NewFields(values)
	if v := f.Number(nameVersion); v > Version {
		return Charter{}, fmt.Errorf("%w: it has version %d, and this process understands %d: upgrade heatsink in this process", ErrNewer, v, Version)
	} else if v < 1 && f.Err() == nil {
		f.Fault("version %d: it counts from 1", v)
	}
	needs := list(f, nameNeeds)
	if unknown := unknownNeeds(needs); unknown != nil { // before anything else, as the rest may be due to it
		return Charter{}, fmt.Errorf("%w: it needs %q, and this process knows %q: upgrade heatsink in this process", ErrNewer, unknown, known)
	}
	c := Charter{Needs: needs, Movable: slices.Contains(needs, NeedMove), Moved: slices.Contains(needs, NeedMoved)}
	c.Widths, c.Layout.Shards = widths(f)
	unmarshal(f, nameStrategy, &c.Layout.Strategy)
	unmarshal(f, nameHash, &c.Layout.Hash)
	unmarshal(f, nameFormat, &c.Layout.Format)
	unmarshal(f, nameBucket, &c.Layout.Bucket)
	c.Older = older(f)
	c.ShardBy = list(f, nameShardBy)
	c.EventTime = EventTime{Attribute: f.Text(nameTime), Unit: f.Text(nameUnit)}
	c.Table, c.PartitionKey, c.SortKey = f.Text(nameTable), f.Text(namePartitionKey), f.Text(nameSortKey)
	c.Index = Index{Name: f.Text(nameIndex), PartitionKey: f.Text(nameIndexPartition), SortKey: f.Text(nameIndexSort), ShardAttribute: f.Text(nameIndexShard)}
	c.VersionAttribute, c.By, c.At = f.Text(nameItemVersion), f.Text(nameBy), f.Number(nameAt)
	c.Frozen = freeze(f, values)
	f.End()
	if err := f.Err(); err != nil {
		return Charter{}, fmt.Errorf("%w: %w", ErrCharter, err)
	}
	if err := c.Validate(); err != nil {
		return Charter{}, err
	}
	return c, nil
}

func unknownNeeds(needs []string) (unknown []string) {
	for _, need := range needs {
		if !slices.Contains(known, need) {
			unknown = append(unknown, need)
		}
	}
	return unknown
}

func widths(f *ledger.Fields) (Widths, int) {
	text, ok := f.Lookup(nameWidths)
	if !ok {
		return Fixed, 0
	}
	w, shards, err := parseWidths(text)
	if err != nil {
		f.Fault("%s %w", nameWidths, err)
	}
	return w, shards
}

// parseWidths is the inverse of Charter.widths.
func parseWidths(text string) (w Widths, shards int, err error) {
	if number, ok := strings.CutPrefix(text, "fixed "); ok {
		shards, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(shards) != number {
			return Fixed, 0, fmt.Errorf("is %s: want a number of shards, such as fixed 16", quote.Text(text))
		}
		return Fixed, shards, nil
	}
	for _, w := range []Widths{Adaptive, ByProgram} {
		if w.String() == text {
			return w, 0, nil
		}
	}
	return Fixed, 0, fmt.Errorf("is %s: want adaptive, by the program, or a number such as fixed 16", quote.Text(text))
}

// unmarshal reads a value of package layout, which knows the names of its values.
func unmarshal(f *ledger.Fields, name string, into encoding.TextUnmarshaler) {
	text, ok := f.Lookup(name)
	if !ok {
		return
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		f.Fault("%s: %w", name, err)
	}
}

func older(f *ledger.Fields) (all []layout.Layout) {
	for _, text := range list(f, nameOlder) {
		l, ok := parseLayout(text)
		if !ok {
			f.Fault("%s %w", nameOlder, noLayout(text))
		}
		all = append(all, l)
	}
	return all
}

func noLayout(text string) error {
	return fmt.Errorf("has %s: want strategy, shards and template, such as random 16 {key}#SHARD_{shard}", quote.Text(text))
}

// olderList returns the texts of layouts, never nil.
func olderList(layouts []layout.Layout) []string {
	texts := make([]string, len(layouts))
	for i, l := range layouts {
		texts[i] = layoutText(l)
	}
	return texts
}

// unsharded is the text of the layout that stores keys as they are.
const unsharded = "not sharded"

// layoutText returns a layout without buckets as a charter stores it: "random 16 {key}#SHARD_{shard}", or with its hash,
// "calculated 16 xxhash {key}#SHARD_{shard}". It is not Layout.String, whose words may change.
func layoutText(l layout.Layout) string {
	if l.Shards == 0 {
		return unsharded
	}
	words := []string{l.Strategy.String(), strconv.Itoa(l.Shards)}
	if l.Strategy == layout.Calculated {
		words = append(words, l.Hash.String())
	}
	return strings.Join(append(words, l.Template()), " ")
}

// parseLayout is the inverse of layoutText.
func parseLayout(text string) (l layout.Layout, ok bool) {
	if text == unsharded {
		return layout.Layout{}, true
	}
	strategy, rest, _ := strings.Cut(text, " ")
	shards, rest, _ := strings.Cut(rest, " ")
	if l.Strategy.UnmarshalText([]byte(strategy)) != nil {
		return layout.Layout{}, false
	}
	if l.Strategy == layout.Calculated {
		var hash string
		hash, rest, _ = strings.Cut(rest, " ")
		if l.Hash.UnmarshalText([]byte(hash)) != nil {
			return layout.Layout{}, false
		}
	}
	l.Shards, _ = strconv.Atoi(shards)
	l.Format, _ = layout.ParseFormat(rest)
	return l, l.Validate() == nil && layoutText(l) == text
}

// listText returns texts as JSON.
func listText(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(texts) // strings always have a JSON form, and a Builder takes it
	return strings.TrimSuffix(b.String(), "\n")
}

// list is the inverse of listText.
func list(f *ledger.Fields, name string) (texts []string) {
	text, ok := f.Lookup(name)
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &texts); err != nil || texts == nil {
		f.Fault("%s is %s: want a list in JSON, such as [\"a\",\"b\"]", name, quote.Text(text))
	}
	if len(texts) == 0 {
		return nil // as New has it
	}
	return texts
}
