package golden_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/golden"
)

type value struct {
	Name   string
	Number bool
	Text   string
}

var errOdd = errors.New("odd")

// format reads an item as a text. An item with the attribute odd is refused, and one with the attribute lossy loses it.
var format = golden.Format[string, value]{
	Parse: func(values []value) (string, error) {
		var parts []string
		for _, v := range values {
			switch v.Name {
			case "odd":
				return "", fmt.Errorf("%w: %s", errOdd, v.Text)
			case "lossy":
			default:
				parts = append(parts, fmt.Sprintf("%s=%v:%s", v.Name, v.Number, v.Text))
			}
		}
		return strings.Join(parts, " "), nil
	},
	Encode: func(s string) (values []value) {
		for part := range strings.FieldsSeq(s) {
			name, rest, _ := strings.Cut(part, "=")
			number, text, _ := strings.Cut(rest, ":")
			values = append([]value{{name, number == "true", text}}, values...)
		}
		return values
	},
	Equal: func(a, b string) bool { return a == b },
}

// noted collects what a test reports.
type noted struct {
	testing.TB
	errs []string
}

func (n *noted) Helper() {}

func (n *noted) Errorf(format string, args ...any) {
	n.errs = append(n.errs, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, text string // of the file; "": there is none
		cases      map[string]golden.Case[string]
		want       string // a part of the only error; "": none
	}{
		{"right", `{"b":{"N":"1"},"a":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Want: "a=false:x b=true:1"}}, ""},
		{"another value", `{"a":{"S":"y"}}`, map[string]golden.Case[string]{"f.json": {Want: "a=false:x"}}, "f.json: got a=false:y"},
		{"refused", `{"odd":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Err: errOdd, Says: "x"}}, ""},
		{"refused with another text", `{"odd":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Err: errOdd, Says: "y"}}, "want odd that says y"},
		{"refused and should not be", `{"odd":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Want: ""}}, "odd: x"},
		{"read and should be refused", `{"a":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Err: errOdd}}, "want odd"},
		{"written otherwise", `{"a":{"S":"x"},"lossy":{"S":"x"}}`, map[string]golden.Case[string]{"f.json": {Want: "a=false:x"}}, "is written"},
		{"another type", `{"a":{"BOOL":true}}`, map[string]golden.Case[string]{"f.json": {Want: "a=false:x"}}, "a is neither a string nor a number"},
		{"no JSON", `{`, map[string]golden.Case[string]{"f.json": {}}, "f.json: unexpected end"},
		{"no case", `{}`, nil, "f.json has no case"},
		{"no file", "", map[string]golden.Case[string]{"f.json": {}}, "f.json is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.text != "" {
				if err := os.WriteFile(filepath.Join(dir, "f.json"), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			n := &noted{TB: t}
			golden.Check(n, dir, c.cases, format)
			switch {
			case c.want == "" && len(n.errs) > 0:
				t.Errorf("got %q, want no error", n.errs)
			case c.want != "" && (len(n.errs) != 1 || !strings.Contains(n.errs[0], c.want)):
				t.Errorf("got %q, want one error about %q", n.errs, c.want)
			}
		})
	}
}
