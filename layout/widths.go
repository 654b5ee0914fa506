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

// Width is the number of shards of a key: those that are written, and those that are read because they may hold items. It
// holds that 1 ≤ Write ≤ Read ≤ MaxShards.
//
// The text of a Width is Write/Read, such as 4/16, or one number if both are equal. Everything that supports
// encoding.TextUnmarshaler can decode it, such as JSON, YAML and package flag. In JSON a single number may also be a JSON
// number.
//
// A Width is also a Widths that is the same for all keys:
//
//	heatsink.Options{Widths: layout.Width{Write: 4, Read: 16}, …}
type Width struct{ Write, Read int }

// Widths returns the width of a key. Every operation calls it first, from many goroutines, so it should answer from
// memory. A [Width] is the same for all keys, a [WidthTable] is read from a configuration, and [LiveWidths] can be
// replaced at run time.
//
// At any time, Read of every reader must be at least Write of every writer. To widen a key, raise Read everywhere first,
// and then Write; docs/layouts.md has the steps. A width of 1 is shard 0, which has a suffix unless the format has
// BareZero.
//
// With a Calculated layout all widths must be powers of two. Get, Update and Delete then also look for an item in the
// shards of narrower widths. Put does not, so an item that is put again after its key has grown may exist twice. Change
// such items with Update.
type Widths interface {
	Width(ctx context.Context, key string, bucket time.Time) (Width, error)
}

// Width returns w for every key and bucket.
func (w Width) Width(context.Context, string, time.Time) (Width, error) { return w, nil }

// String returns the text of the width, such as 4/16.
func (w Width) String() string {
	if w.Write == w.Read {
		return strconv.Itoa(w.Read)
	}
	return strconv.Itoa(w.Write) + "/" + strconv.Itoa(w.Read)
}

// MarshalText returns the text of the width. The error of an invalid width wraps ErrWidth.
func (w Width) MarshalText() ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return []byte(w.String()), nil
}

// UnmarshalText parses a width such as 4/16, or 16 for 16/16. The error wraps ErrWidth.
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
			return fmt.Errorf("%w %s: want the number of shards to write and to read, such as 4/16, or one number for both", ErrWidth, quote.Text(string(text)))
		}
		*part.n = int(n)
	}
	if err := parsed.check(); err != nil {
		return err
	}
	*w = parsed
	return nil
}

// UnmarshalJSON parses a width from a text such as "4/16", or from a number such as 16. The error wraps ErrWidth.
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
		return fmt.Errorf("%w %d/%d: Write is %[2]d, want 1 or more", ErrWidth, w.Write, w.Read)
	case w.Write > w.Read:
		return fmt.Errorf("%w %d/%d: more shards are written than read, so reads would miss items: raise Read, or lower Write", ErrWidth, w.Write, w.Read)
	case w.Read > MaxShards:
		return fmt.Errorf("%w %d/%d: Read is %[3]d, want at most %d", ErrWidth, w.Write, w.Read, MaxShards)
	}
	return nil
}

// CheckFor returns what is wrong with a width for a strategy. Calculated requires powers of two, because doubling splits
// each of its shards in two. The error wraps ErrWidth.
func (w Width) CheckFor(strategy Strategy) error {
	if err := w.check(); err != nil {
		return err
	}
	if strategy == Calculated && (bits.OnesCount(uint(w.Write)) > 1 || bits.OnesCount(uint(w.Read)) > 1) {
		return fmt.Errorf("%w %d/%d: a Calculated layout needs powers of two", ErrWidth, w.Write, w.Read)
	}
	return nil
}

// WidthTable is a Widths from a configuration: Default is the width of every key that is not in Keys. The zero value has
// no default, so Open refuses it. Do not change a table while a collection uses it: see LiveWidths.
//
//	{"default": "4", "keys": {"PAGE_VIEWS": "16/64"}}
//
// UnmarshalJSON refuses misspelt fields. Configure other decoders to do so, as yaml.v3 with KnownFields. Keys are logical
// keys, not shard keys: Open refuses a key that the layout refuses, such as X#SHARD_1.
type WidthTable struct {
	Default Width            `json:"default" yaml:"default"`
	Keys    map[string]Width `json:"keys,omitempty" yaml:"keys,omitempty"`
}

// Width returns the width of a key, which is the same for all buckets.
func (t WidthTable) Width(_ context.Context, key string, _ time.Time) (Width, error) {
	return t.of(key), nil
}

func (t *WidthTable) of(key string) Width {
	if w, ok := t.Keys[key]; ok {
		return w
	}
	return t.Default
}

// UnmarshalJSON parses a table. Fields and keys that the text lacks stay unchanged. An unknown field, a repeated field or
// key, and an invalid width are errors. They wrap ErrWidth, name the key, and leave the table unchanged.
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
		return fmt.Errorf("%w: width table: unknown field %s, want default or keys", ErrWidth, quote.Text(field))
	})
	if err != nil {
		return err
	}
	*t = read
	return nil
}

// unmarshal parses the width of something, which must not be null.
func (w *Width) unmarshal(what string, data json.RawMessage) error {
	if string(data) == "null" {
		return fmt.Errorf("%s: %w null: write it as text, such as \"4/16\", or leave it out", what, ErrWidth)
	}
	if err := w.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// eachMember visits the members of a JSON object and returns all errors. null has no members. A repeated name is an
// error, because encoding/json would use the last one.
func eachMember(data []byte, what string, visit func(name string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	switch opens, err := decoder.Token(); {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrWidth, what, err)
	case opens == nil:
		return nil
	case opens != json.Delim('{'):
		return fmt.Errorf("%w: %s: %s is not a JSON object", ErrWidth, what, quote.Text(string(data)))
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
		name, _ := token.(string) // the name of a member is always a string
		if seen[name] {
			errs = append(errs, fmt.Errorf("%w: %s: %s appears twice, want it once", ErrWidth, what, quote.Text(name)))
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

// Validate reports everything that is wrong with the table and its keys. The error wraps ErrWidth. Whether a key looks
// like a shard key depends on the layout, so only Open checks that.
func (t WidthTable) Validate() error {
	return t.checkAll(Width.check, notEmpty)
}

// notEmpty is the check of keys that holds for any layout.
func notEmpty(key string) error {
	if key == "" {
		return keyError(key, "it is empty")
	}
	return nil
}

// checkAll checks all widths and keys, in the order of the keys. checkKey returns why no item can have a key.
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

// LiveWidths is a WidthTable that can be replaced while collections use it, for example when a configuration is reloaded.
// The zero value has no table, and Open refuses it until Replace is called.
type LiveWidths struct {
	table atomic.Pointer[WidthTable]
}

// Replace replaces the table with a copy of t, for all operations that start afterwards. It refuses an invalid table,
// with an error that wraps ErrWidth. It also refuses two changes of a key's width; adding or removing a key changes its
// width from or to the default:
//
//   - The new Write exceeds the old Read. Other processes do not read the new shards yet. Raise Read everywhere first,
//     and then Write.
//   - The new Read is less than the old Write. Reads would miss the items in the other shards. Lower Write first, for
//     example from 16 to 1/16, and lower Read when the other shards are empty. Replace cannot know whether they are
//     empty.
//
// Replace does not check what depends on the layout. Operations refuse a width that a Calculated layout cannot have.
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

// follows reports everything that prevents a table from replacing another.
func (t *WidthTable) follows(before *WidthTable) error {
	var errs []error
	follows := func(what string, now, then Width) {
		if now.Write > then.Read {
			errs = append(errs, fmt.Errorf("%w: %s: width %v cannot replace %v, because other processes do not read the new shards yet: raise Read first, in all processes, and then Write", ErrWidth, what, now, then))
		}
		if now.Read < then.Write {
			errs = append(errs, fmt.Errorf("%w: %s: width %v cannot replace %v, because reads would miss the items in the other shards: "+
				"write to fewer shards first (%v), and read fewer when the others are empty", ErrWidth, what, now, then, Width{now.Write, then.Read}))
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

// Width returns the width of a key in the current table.
func (l *LiveWidths) Width(_ context.Context, key string, _ time.Time) (Width, error) {
	t := l.table.Load()
	if t == nil {
		return Width{}, fmt.Errorf("%w: LiveWidths has no table: call Replace first", ErrWidth)
	}
	return t.of(key), nil
}

// CheckWidths reports what is wrong with widths for a strategy, as far as that is known before they are used. checkKey
// returns why no item can have a key; nil refuses only the empty key. The error wraps ErrWidth.
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
			return fmt.Errorf("%w: the *WidthTable is nil", ErrWidth)
		}
		return w.checkAll(check, checkKey)
	case *LiveWidths:
		if w == nil {
			return fmt.Errorf("%w: the *LiveWidths is nil", ErrWidth)
		}
		t := w.table.Load()
		if t == nil {
			return fmt.Errorf("%w: LiveWidths has no table: call Replace first", ErrWidth)
		}
		return t.checkAll(check, checkKey)
	}
	return nil
}
