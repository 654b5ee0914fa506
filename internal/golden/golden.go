// Package golden is for tests that compare with files: what tables hold, with control items as earlier versions have stored them, which never
// changes; and texts for people, which are read and written anew.
package golden

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TB is the part of testing.TB that Check takes.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Value is an attribute of an item, as ledger.Value has it. This package does not import that one, whose own tests use it.
type Value interface {
	~struct {
		Name   string
		Number bool
		Text   string
	}
}

type value struct {
	Name   string
	Number bool
	Text   string
}

// Case is what a file holds.
type Case[T any] struct {
	Want T
	Err  error  // that is wrapped by what reading it returns, instead of Want
	Says string // a part of that error's text
}

// Format is how items are read and written.
type Format[T any, V Value] struct {
	Parse  func([]V) (T, error)
	Encode func(T) []V
	Equal  func(a, b T) bool
}

// Check compares the files *.json of a directory, which are items in DynamoDB's JSON without their keys, with what reading them
// returns. What can be read is also written again, and must be the same item. Each file must have a case, and each case a file.
func Check[T any, V Value](t TB, dir string, cases map[string]Case[T], f Format[T, V]) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, path := range paths {
		file := filepath.Base(path)
		want, ok := cases[file]
		if !ok {
			t.Errorf("%s has no case", file)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v", err)
		}
		check(t, file, text, want, f)
	}
	for file := range cases {
		if !slices.ContainsFunc(paths, func(path string) bool { return filepath.Base(path) == file }) {
			t.Errorf("%s is gone", file)
		}
	}
}

func check[T any, V Value](t TB, file string, text []byte, want Case[T], f Format[T, V]) {
	t.Helper()
	values, err := read[V](text)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	got, err := f.Parse(values)
	switch {
	case want.Err != nil:
		if !errors.Is(err, want.Err) || !strings.Contains(err.Error(), want.Says) {
			t.Errorf("%s: got %+v, %v, want %v that says %s", file, got, err, want.Err, want.Says)
		}
		return
	case err != nil || !f.Equal(got, want.Want):
		t.Errorf("%s: got %+v, %v, want %+v", file, got, err, want.Want)
		return
	}
	written := f.Encode(got) // as long as this is the version that is written
	slices.SortFunc(written, byName)
	if !slices.EqualFunc(written, values, func(a, b V) bool { return value(a) == value(b) }) {
		t.Errorf("%s: %+v is written, want %+v", file, written, values)
	}
}

func byName[V Value](a, b V) int { return strings.Compare(value(a).Name, value(b).Name) }

// read reads an item in DynamoDB's JSON, sorted by name.
func read[V Value](text []byte) (values []V, err error) {
	var item map[string]struct{ S, N *string }
	if err := json.Unmarshal(text, &item); err != nil {
		return nil, err
	}
	for name, v := range item {
		switch {
		case v.N != nil:
			values = append(values, V(value{Name: name, Number: true, Text: *v.N}))
		case v.S != nil:
			values = append(values, V(value{Name: name, Text: *v.S}))
		default:
			return nil, errors.New(name + " is neither a string nor a number")
		}
	}
	slices.SortFunc(values, byName)
	return values, nil
}
