package jsonpull

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// tree reads a document into what encoding/json would.
func tree(d *Decoder) any {
	switch d.peek() {
	case '{':
		m := map[string]any{}
		for name := range d.Entries(nil) {
			m[name] = tree(d)
		}
		return m
	case '[':
		l := []any{}
		for range d.Elements(nil) {
			l = append(l, tree(d))
		}
		return l
	case '"':
		return d.Text()
	case 't', 'f':
		return d.Bool()
	case 'n':
		d.Null()
		return nil
	default:
		return d.DoubleOf(nil)
	}
}

// Our documents are encoding/json's, but for three differences: ours are valid
// UTF-8, have no lone surrogates and do not nest as deep.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		`{"TableName":"t","Key":{"pk":{"S":"a\n\ud83d\ude00"}},"Limit":-1.5e3}`, `[null,true,false,[],{}]`, `"\ud800"`, "\"\xff\"", `01`, `[1,]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		theirs := json.Unmarshal([]byte(text), &want)
		d := New(text)
		got := tree(d)
		ours := d.End()
		if Valid(text) != (ours == nil) {
			t.Fatalf("skipping says %v, reading %v", Valid(text), ours)
		}
		if ours == nil {
			if theirs != nil && !rangeError(theirs) {
				t.Fatalf("we take what encoding/json does not: %v", theirs)
			}
			if theirs == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("got %#v, want %#v", got, want)
			}
		} else if theirs == nil && !stricter(text, ours) {
			t.Fatalf("we do not take what encoding/json does: %v", ours)
		}
		var syntax *SyntaxError
		if errors.As(ours, &syntax) && (syntax.Offset < 0 || syntax.Offset > len(text)) {
			t.Fatalf("an error at byte %d of %d", syntax.Offset, len(text))
		}
	})
}

// stricter reports whether the text is one that only we refuse.
func stricter(text string, err error) bool {
	return !utf8.ValidString(text) || errors.Is(err, ErrDepth) || strings.Contains(strings.ToLower(text), `\ud`)
}

// rangeError is encoding/json's for a number that no float64 holds.
func rangeError(err error) bool {
	var e *json.UnmarshalTypeError
	return errors.As(err, &e) || errors.Is(err, strconv.ErrRange)
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00é")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		d := New(string(AppendString(nil, s)))
		if got := d.Text(); got != s || d.End() != nil {
			t.Fatalf("got %q, %v, want %q", got, d.Err(), s)
		}
	})
}

func BenchmarkSkip(b *testing.B) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, `{"pk":{"S":"user#%08d"},"text":{"S":%q},"n":{"N":"%d"}},`, i, strings.Repeat("lorem ipsum ", 10), i)
	}
	doc := "[" + strings.TrimSuffix(text.String(), ",") + "]"
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if !Valid(doc) {
			b.Fatal("not valid")
		}
	}
}
