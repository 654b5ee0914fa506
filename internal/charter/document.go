package charter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// document is a charter as people read and edit it. Needs are left out: New knows them.
type document struct {
	Widths       string          `json:"widths"` // adaptive, by the program, or fixed and a number
	Strategy     layout.Strategy `json:"strategy"`
	Hash         layout.Hash     `json:"hash"`
	Format       layout.Format   `json:"format"`
	Bucket       layout.Bucket   `json:"bucket"`
	Older        []string        `json:"older"`
	ShardBy      []string        `json:"shard_by"`
	EventTime    string          `json:"event_time,omitempty"`
	EventUnit    string          `json:"event_unit,omitempty"`
	Table        string          `json:"table,omitempty"`
	PartitionKey string          `json:"partition_key"`
	SortKey      string          `json:"sort_key,omitempty"`
	Index        *documentIndex  `json:"index,omitempty"`
	Version      string          `json:"version_attribute,omitempty"`
	Movable      bool            `json:"movable,omitempty"`
	By           string          `json:"by,omitempty"`
	At           *time.Time      `json:"at,omitempty"`
	Frozen       *documentFreeze `json:"frozen,omitempty"`
}

// required are the names that are in every document.
var required = []string{"widths", "strategy", "hash", "format", "bucket", "older", "shard_by", "partition_key"}

type documentIndex struct {
	Name           string `json:"name"`
	PartitionKey   string `json:"partition_key"`
	SortKey        string `json:"sort_key,omitempty"`
	ShardAttribute string `json:"shard_attribute,omitempty"`
}

type documentFreeze struct {
	Why string     `json:"why,omitempty"`
	By  string     `json:"by,omitempty"`
	At  *time.Time `json:"at,omitempty"`
}

// MarshalJSON returns the charter for people and programs, with names that say what they are.
func (c Charter) MarshalJSON() ([]byte, error) {
	d := document{
		Widths: c.widths(), Strategy: c.Layout.Strategy, Hash: c.Layout.Hash, Format: c.Layout.Format, Bucket: c.Layout.Bucket,
		Older: olderList(c.Older), ShardBy: append([]string{}, c.ShardBy...), EventTime: c.EventTime.Attribute, EventUnit: c.EventTime.Unit,
		Table: c.Table, PartitionKey: c.PartitionKey, SortKey: c.SortKey, Version: c.VersionAttribute, Movable: c.Movable, By: c.By,
	}
	if c.Index != (Index{}) {
		index := documentIndex(c.Index)
		d.Index = &index
	}
	d.At = moment(c.At)
	if f := c.Frozen; f.On {
		d.Frozen = &documentFreeze{f.Why, f.By, moment(f.At)}
	}
	return json.Marshal(d)
}

// moment returns a time of a document, nil if it is none that JSON can tell.
func moment(milliseconds int64) *time.Time {
	at := time.UnixMilli(milliseconds).UTC()
	if milliseconds == 0 || at.Year() < 0 || at.Year() > 9999 {
		return nil
	}
	return &at
}

// ParseDocument reads what MarshalJSON wrote and somebody has edited perhaps. It leaves out By, At and Frozen, which are
// not for editing. The error wraps ErrCharter.
func ParseDocument(text []byte) (Charter, error) {
	d := document{}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&d); err != nil {
		return Charter{}, fmt.Errorf("%w: %w", ErrCharter, err)
	}
	var there map[string]json.RawMessage
	if err := json.Unmarshal(text, &there); err == nil {
		for _, name := range required {
			if _, ok := there[name]; !ok { // its zero value would be another layout
				return Charter{}, fmt.Errorf("%w: %s is missing: begin with the document of the stored charter", ErrCharter, name)
			}
		}
	}
	if _, err := reader.Token(); !errors.Is(err, io.EOF) {
		return Charter{}, fmt.Errorf("%w: there is more behind the first JSON object: want one", ErrCharter)
	}
	c := Charter{
		Layout:  layout.Layout{Strategy: d.Strategy, Hash: d.Hash, Format: d.Format, Bucket: d.Bucket},
		ShardBy: d.ShardBy, EventTime: EventTime{d.EventTime, d.EventUnit},
		Table: d.Table, PartitionKey: d.PartitionKey, SortKey: d.SortKey, VersionAttribute: d.Version, Movable: d.Movable,
	}
	if d.Index != nil {
		c.Index = Index(*d.Index)
	}
	var err error
	if c.Widths, c.Layout.Shards, err = parseWidths(d.Widths); err != nil {
		return Charter{}, fmt.Errorf("%w: widths %w", ErrCharter, err)
	}
	for _, text := range d.Older {
		l, ok := parseLayout(text)
		if !ok {
			return Charter{}, fmt.Errorf("%w: older %w", ErrCharter, noLayout(text))
		}
		c.Older = append(c.Older, l)
	}
	if c.Layout.Bucket == layout.NoBucket && c.EventTime != (EventTime{}) {
		return Charter{}, fmt.Errorf("%w: event_time is %s, but bucket is none: want both or none", ErrCharter, quote.Text(d.EventTime))
	}
	return New(c)
}

// Changes returns what differs between two charters, for people: a line for each name of their documents.
func Changes(before, after Charter) (lines []string) {
	list := func(texts []string) string { return fmt.Sprintf("%q", texts) }
	for _, f := range []struct{ name, before, after string }{
		{"widths", before.widths(), after.widths()},
		{"strategy", before.Layout.Strategy.String(), after.Layout.Strategy.String()},
		{"hash", before.Layout.Hash.String(), after.Layout.Hash.String()},
		{"format", before.Layout.Format.String(), after.Layout.Format.String()},
		{"bucket", before.Layout.Bucket.String(), after.Layout.Bucket.String()},
		{"older", list(olderList(before.Older)), list(olderList(after.Older))},
		{"shard_by", list(before.ShardBy), list(after.ShardBy)},
		{"event_time", quote.Text(before.EventTime.Attribute), quote.Text(after.EventTime.Attribute)},
		{"event_unit", quote.Text(before.EventTime.Unit), quote.Text(after.EventTime.Unit)},
		{"table", quote.Text(before.Table), quote.Text(after.Table)},
		{"partition_key", quote.Text(before.PartitionKey), quote.Text(after.PartitionKey)},
		{"sort_key", quote.Text(before.SortKey), quote.Text(after.SortKey)},
		{"index", fmt.Sprintf("%q", before.Index), fmt.Sprintf("%q", after.Index)},
		{"movable", fmt.Sprint(before.Movable), fmt.Sprint(after.Movable)},
		{"version_attribute", quote.Text(before.VersionAttribute), quote.Text(after.VersionAttribute)},
	} {
		if f.before != f.after {
			lines = append(lines, fmt.Sprintf("%s changes from %s to %s", f.name, f.before, f.after))
		}
	}
	return lines
}

// Missed returns which items a process with the charter after does not read any more that one with the charter before has
// read, as far as the charters tell.
func Missed(before, after Charter) (warnings []string) {
	for _, l := range before.Older {
		if !slices.Contains(after.Older, l) && !after.covers(l) {
			warnings = append(warnings, fmt.Sprintf("items that are stored under the older layout %s are not read any more", quote.Text(layoutText(l))))
		}
	}
	own := plain(before.Layout)
	own.Bucket = layout.NoBucket
	switch {
	case before.Movable && after.Movable: // the record of package passage has the layout
	case before.Movable:
		warnings = append(warnings, "items may have moved to another layout than that of the charter, so that they are not read any more")
	case before.Layout.Bucket != after.Layout.Bucket:
		warnings = append(warnings, "the bucket changes, so that items in the buckets of before are not read any more")
	case before.Widths == Adaptive && after.Widths != Adaptive:
		warnings = append(warnings, "items in shards that keys have grown to are not read any more, unless an older layout with as many shards covers them")
	case before.Widths == Fixed && !after.covers(own) && !slices.Contains(after.Older, own):
		warnings = append(warnings, fmt.Sprintf("items that are stored under the layout %s are not read any more: add it to older", quote.Text(layoutText(own))))
	}
	return warnings
}

// covers reports whether a process with the charter reads all shards of a layout without buckets by its own layout. Then it
// finds them, however many of them a key has.
func (c Charter) covers(l layout.Layout) bool {
	own := plain(c.Layout)
	switch {
	case c.Layout.Bucket != layout.NoBucket:
		return false
	case l.Shards == 0:
		return c.Layout.Format.BareZero && spread(&c) || own.Shards == 0 && c.Widths == Fixed
	case c.Widths != Fixed:
		return false
	case l.Strategy == layout.Random && own.Strategy == layout.Random:
		return own.Shards >= l.Shards && own.Format == l.Format
	}
	return own == l
}
