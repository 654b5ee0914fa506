package main

import (
	"errors"
	"iter"
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	trouble := errors.New("trouble")
	for _, c := range []struct {
		name         string
		acknowledged string
		read         string
		want         string // empty: all is well
	}{
		{"all there", "a b c", "a b c", ""},
		{"nothing", "", "", ""},
		{"lost", "a b c d", "a c", "2 of 4 acknowledged writes are lost; the first is b"},
		{"all lost", "a b", "", "2 of 2 acknowledged writes are lost; the first is a"},
		{"twice", "a b", "a b b", "read b twice"},
		{"twice, apart", "a b", "a b a", "read a twice"},
		{"out of order", "a b c", "a c b", "read b after c: out of order"},
		{"refused", "a c", "a b c", "read b, whose put was refused"},
		{"of another key", "a", "a/OTHER", `read a with key "OTHER", want "KEY"`},
		{"unreadable", "a b", "a !", "trouble"},
	} {
		t.Run(c.name, func(t *testing.T) {
			acknowledged := map[string]bool{}
			for at := range strings.FieldsSeq(c.acknowledged) {
				acknowledged[at] = true
			}
			_, err := verify(readViews(c.read, trouble), "KEY", acknowledged)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// readViews is a query's result: sort keys, with their key if that is not KEY; ! is an error.
func readViews(text string, trouble error) iter.Seq2[view, error] {
	return func(yield func(view, error) bool) {
		for word := range strings.FieldsSeq(text) {
			at, key, other := strings.Cut(word, "/")
			if !other {
				key = "KEY"
			}
			var err error
			if at == "!" {
				err = trouble
			}
			if !yield(view{Key: key, At: at}, err) || err != nil {
				return
			}
		}
	}
}
