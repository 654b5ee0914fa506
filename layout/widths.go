package layout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Width is how many shards a key has: those that are written to, and those that may hold items. 1 ≤ Write ≤ Read ≤ MaxShards.
//
// As text it is Write/Read, such as 4/16, or one number if both are the same. So it can stand in a configuration file, an
// environment variable or a flag, for whatever decodes with encoding.TextUnmarshaler: JSON, YAML, package flag. In JSON the
// one number may be a number.
//
// A Width is also the Widths of all keys:
//
//	heatsink.Options{Widths: layout.Width{Write: 4, Read: 16}, …}
type Width struct{ Write, Read int }

// Widths says how wide a key is. It is asked before every operation, from many goroutines, and should answer from memory.
// A [Width] is the same for all keys, a [WidthTable] is read from a configuration, and [LiveWidths] can be replaced while
// they are used.
//
// At all times every reader's Read must be at least every writer's Write. So Read grows first, everywhere, and Write then;
// docs/layouts.md has the steps. A width of 1 is shard 0, which has a suffix unless the format has BareZero.
//
// With a Calculated layout all widths are powers of two. Get, Update and Delete then look for an item where narrower widths
// have put it, too. Put does not: an item that is put again after its key has grown may be there twice, so change such items
// with Update.
type Widths interface {
	Width(ctx context.Context, key string, bucket time.Time) (Width, error)
}

// Width makes a Width the Widths of all keys.
func (w Width) Width(context.Context, string, time.Time) (Width, error) { return w, nil }

// String returns the width as text, such as 4/16.
func (w Width) String() string {
	if w.Write == w.Read {
		return strconv.Itoa(w.Read)
	}
	return strconv.Itoa(w.Write) + "/" + strconv.Itoa(w.Read)
}

// MarshalText returns the width as text. A width that cannot be is an error, which wraps ErrWidth.
func (w Width) MarshalText() ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return []byte(w.String()), nil
}

// UnmarshalText reads a width such as 4/16, or 16 for 16/16. The error wraps ErrWidth.
func (w *Width) UnmarshalText(text []byte) error {
	write, read, two := strings.Cut(string(text), "/")
	if !two {
		read = write
	}
	var parsed Width
	for _, part := range []struct {
		text string
		n    *int
	}{{write, &parsed.Write}, {read, &parsed.Read}} {
		n, err := strconv.ParseUint(part.text, 10, 31)
		if err != nil {
			return fmt.Errorf("%w %s: want the shards that are written and those that are read, such as 4/16, or one number for both", ErrWidth, quote.Text(string(text)))
		}
		*part.n = int(n)
	}
	if err := parsed.check(); err != nil {
		return err
	}
	*w = parsed
	return nil
}

// UnmarshalJSON reads a width as text, such as "4/16", or a number, such as 16. The error wraps ErrWidth.
func (w *Width) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case string(data) == "null": // changes nothing, as in all of encoding/json
		return nil
	case len(data) > 0 && (data[0] == '-' || '0' <= data[0] && data[0] <= '9'):
		return w.UnmarshalText(data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%w %s: write it as text, such as \"4/16\"", ErrWidth, quote.Text(string(data)))
	}
	return w.UnmarshalText([]byte(text))
}

// check returns what is wrong with a width.
func (w Width) check() error {
	switch {
	case w.Write < 1:
		return fmt.Errorf("%w %d/%d: at least 1 shard is written", ErrWidth, w.Write, w.Read)
	case w.Write > w.Read:
		return fmt.Errorf("%w %d/%d: more shards are written than read, so that items would be missed", ErrWidth, w.Write, w.Read)
	case w.Read > MaxShards:
		return fmt.Errorf("%w %d/%d: there are %d shards at most", ErrWidth, w.Write, w.Read, MaxShards)
	}
	return nil
}

// CheckFor returns what is wrong with a width for a strategy: Calculated takes powers of two, as doubling splits each of its
// shards in two. The error wraps ErrWidth.
func (w Width) CheckFor(strategy Strategy) error {
	if err := w.check(); err != nil {
		return err
	}
	if strategy == Calculated && (bits.OnesCount(uint(w.Write)) > 1 || bits.OnesCount(uint(w.Read)) > 1) {
		return fmt.Errorf("%w %d/%d: a Calculated layout takes powers of two", ErrWidth, w.Write, w.Read)
	}
	return nil
}

// WidthTable is the Widths that a configuration says: Default for every key that is not among Keys. Its zero value has no
// default and is refused by Open. It must not be changed while a collection uses it: see LiveWidths.
//
//	{"default": "4", "keys": {"PAGE_VIEWS": "16/64"}}
//
// From JSON, UnmarshalJSON refuses misspelt fields. Other decoders have to be told to, as yaml.v3 with KnownFields. Keys are
// those that items are put with, never shard keys: Open refuses a key that the layout refuses, such as X#SHARD_1.
type WidthTable struct {
	Default Width            `json:"default" yaml:"default"`
	Keys    map[string]Width `json:"keys,omitempty" yaml:"keys,omitempty"`
}

// Width returns the width of a key, the same for all buckets.
func (t WidthTable) Width(_ context.Context, key string, _ time.Time) (Width, error) {
	return t.of(key), nil
}

func (t *WidthTable) of(key string) Width {
	if w, ok := t.Keys[key]; ok {
		return w
	}
	return t.Default
}

// UnmarshalJSON reads a table, and leaves what the text does not have as it is. An unknown field, a field or key that is
// there twice, and a width that cannot be are errors, which wrap ErrWidth, name the key and leave the table as it was.
func (t *WidthTable) UnmarshalJSON(data []byte) error {
	read := WidthTable{Default: t.Default, Keys: maps.Clone(t.Keys)}
	err := eachMember(data, "width table", func(field string, value json.RawMessage) error {
		switch field {
		case "default":
			return read.Default.unmarshal("default", value)
		case "keys":
			return eachMember(value, "keys", func(key string, value json.RawMessage) error {
				var w Width
				if err := w.unmarshal("key "+quote.Text(key), value); err != nil {
					return err
				}
				if read.Keys == nil {
					read.Keys = map[string]Width{}
				}
				read.Keys[key] = w
				return nil
			})
		}
		return fmt.Errorf("%w: width table: unknown field %s: want default or keys", ErrWidth, quote.Text(field))
	})
	if err != nil {
		return err
	}
	*t = read
	return nil
}

// unmarshal reads the width of something, which must be there.
func (w *Width) unmarshal(what string, data json.RawMessage) error {
	if string(data) == "null" {
		return fmt.Errorf("%s: %w null: write it as text, such as \"4/16\", or leave it out", what, ErrWidth)
	}
	if err := w.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// eachMember visits the members of an object in JSON and returns all errors. null has none. A name that is there twice is an
// error: encoding/json would take the last one.
func eachMember(data []byte, what string, visit func(name string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	switch opens, err := decoder.Token(); {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrWidth, what, err)
	case opens == nil:
		return nil
	case opens != json.Delim('{'):
		return fmt.Errorf("%w: %s: %s is not an object", ErrWidth, what, quote.Text(string(data)))
	}
	var errs []error
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		var value json.RawMessage
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrWidth, what, err)
		}
		name, _ := token.(string) // what else is a name
		if seen[name] {
			errs = append(errs, fmt.Errorf("%w: %s: %s is there twice", ErrWidth, what, quote.Text(name)))
			continue
		}
		seen[name] = true
		if err := visit(name, value); err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := decoder.Token(); err != nil { // the closing brace
		return fmt.Errorf("%w: %s: %w", ErrWidth, what, err)
	}
	return errors.Join(errs...)
}

// Validate reports everything that is wrong with the table, with the keys. The error wraps ErrWidth. Which keys look like
// shard keys depends on the layout, so that only Open can tell.
func (t WidthTable) Validate() error {
	return t.checkAll(Width.check, notEmpty)
}

// notEmpty is what a key must be under any layout.
func notEmpty(key string) error {
	if key == "" {
		return keyError(key, "it is empty")
	}
	return nil
}

// checkAll checks each width and key, in the order of the keys. checkKey says why no item can have a key.
func (t *WidthTable) checkAll(check func(Width) error, checkKey func(string) error) error {
	var errs []error
	if err := check(t.Default); err != nil {
		errs = append(errs, fmt.Errorf("default: %w", err))
	}
	for _, key := range slices.Sorted(maps.Keys(t.Keys)) {
		if err := check(t.Keys[key]); err != nil {
			errs = append(errs, fmt.Errorf("key %s: %w", quote.Text(key), err))
		}
		if err := checkKey(key); err != nil {
			errs = append(errs, fmt.Errorf("%w: no item can have the key: %w", ErrWidth, err))
		}
	}
	return errors.Join(errs...)
}

// LiveWidths is a WidthTable that can be replaced while collections use it, as when a configuration is loaded again. The
// zero value has none yet; Open refuses it until Replace was called.
type LiveWidths struct {
	table atomic.Pointer[WidthTable]
}

// Replace puts another table in place of the one there is, for all operations that start from then on. It keeps a copy.
// A table that is not valid is refused, with an error that wraps ErrWidth. So are two changes of a key's width. A key that
// is added or left out changes as well, from or to the default:
//
//   - It writes to shards that the one before did not read: other processes do not read them either. Raise Read
//     everywhere, and Write then.
//   - It reads fewer shards than the one before wrote to: the items in the others would be missed. Lower Write, as from 16
//     to 1/16, and Read when the other shards are empty. Whether they are, Replace cannot know.
//
// It does not check what depends on the layout: operations refuse a width that a Calculated layout does not take.
func (l *LiveWidths) Replace(t WidthTable) error {
	if err := t.Validate(); err != nil {
		return err
	}
	t.Keys = maps.Clone(t.Keys)
	for {
		before := l.table.Load()
		if before != nil {
			if err := t.follows(before); err != nil {
				return err
			}
		}
		if l.table.CompareAndSwap(before, &t) {
			return nil
		}
	}
}

// follows reports everything that keeps a table from replacing another.
func (t *WidthTable) follows(before *WidthTable) error {
	var errs []error
	follows := func(what string, now, then Width) {
		if now.Write > then.Read {
			errs = append(errs, fmt.Errorf("%w: %s: width %v follows on %v: raise Read first, in all processes, and Write then", ErrWidth, what, now, then))
		}
		if now.Read < then.Write {
			errs = append(errs, fmt.Errorf("%w: %s: width %v follows on %v, and would miss the items in the other shards: "+
				"write to fewer first (%v), and read fewer when the others are empty", ErrWidth, what, now, then, Width{now.Write, then.Read}))
		}
	}
	follows("default", t.Default, before.Default)
	keys := slices.AppendSeq(slices.Collect(maps.Keys(t.Keys)), maps.Keys(before.Keys))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		follows("key "+quote.Text(key), t.of(key), before.of(key))
	}
	return errors.Join(errs...)
}

// Width returns the width that the present table has for a key.
func (l *LiveWidths) Width(_ context.Context, key string, _ time.Time) (Width, error) {
	t := l.table.Load()
	if t == nil {
		return Width{}, fmt.Errorf("%w: LiveWidths has no table: call Replace first", ErrWidth)
	}
	return t.of(key), nil
}

// CheckWidths reports what is wrong with widths that can be known before they are asked, for a strategy. checkKey says why
// no item can have a key; nil refuses the empty key alone. The error wraps ErrWidth.
func CheckWidths(w Widths, s Strategy, checkKey func(key string) error) error {
	if checkKey == nil {
		checkKey = notEmpty
	}
	check := func(w Width) error { return w.CheckFor(s) }
	switch w := w.(type) {
	case Width:
		return check(w)
	case WidthTable:
		return w.checkAll(check, checkKey)
	case *WidthTable:
		if w == nil {
			return fmt.Errorf("%w: a nil *WidthTable", ErrWidth)
		}
		return w.checkAll(check, checkKey)
	case *LiveWidths:
		if w == nil {
			return fmt.Errorf("%w: a nil *LiveWidths", ErrWidth)
		}
		t := w.table.Load()
		if t == nil {
			return fmt.Errorf("%w: a LiveWidths without a table: call Replace first", ErrWidth)
		}
		return t.checkAll(check, checkKey)
	}
	return nil
}
