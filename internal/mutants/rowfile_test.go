package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// root is the repository, seen from this package's directory.
const root = "../.."

// Every requirement has a break, and every break fits the files as they are. `make row-breaks` runs them.
func TestRowsHaveBreaks(t *testing.T) {
	rows, err := readRequirements(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 178 {
		t.Errorf("got %d rows, want 178", len(rows))
	}
	breaks, err := readRowBreaks(root)
	if err != nil {
		t.Error(err)
	}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.id] = true
	}
	for _, b := range breaks {
		if !known[b.row] {
			t.Errorf("%s: docs/requirements.md has no row %s", b.at, b.row)
		}
		if table := strings.TrimSuffix(b.at[:strings.Index(b.at, ":")], ".txt"); !strings.HasPrefix(b.row, table) {
			t.Errorf("%s: row %s belongs into another file", b.at, b.row)
		}
		if _, _, err := b.open(root); err != nil {
			t.Error(err)
		}
	}
	if _, missing, _ := plan(rows, breaks); len(missing) > 0 {
		t.Errorf("rows without a break in %s: %s", rowDir, strings.Join(missing, ", "))
	}
}

func TestParseRowBreaks(t *testing.T) {
	got, err := parseRowBreaks("A.txt", `# comment
A-01 layout.go
@ func f(
@ for
-		a := 1
+		a := 2

A-01 plan/need.go
- if a {
+
`)
	want := []rowBreak{
		{at: "A.txt:2", row: "A-01", file: "layout.go", after: []string{"func f(", "for"}, from: "a := 1", to: "a := 2"},
		{at: "A.txt:8", row: "A-01", file: "plan/need.go", from: "if a {"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, c := range []struct{ name, text, want string }{
		{"no file", "A-01\n- a\n+ b\n", `A.txt:1: got "A-01", want a row and a file`},
		{"no old line", "A-01 a.go\n+ b\n", "A.txt:2: A-01: \"+ b\" is not expected here"},
		{"no new line", "A-01 a.go\n- a\n", "A.txt:1: A-01: a break needs one - line and one + line"},
		{"two old lines", "A-01 a.go\n- a\n- a\n+ b\n", "A.txt:3: A-01: \"- a\" is not expected here"},
		{"two new lines", "A-01 a.go\n- a\n+ b\n+ c\n", "A.txt:4: A-01: \"+ c\" is not expected here"},
		{"late anchor", "A-01 a.go\n- a\n@ f\n+ b\n", "A.txt:3: A-01: \"@ f\" is not expected here"},
		{"no change", "A-01 a.go\n- a\n+ a\n", "A.txt:1: A-01: it changes nothing"},
		{"anything", "A-01 a.go\nfoo\n", "A.txt:2: A-01: \"foo\" is not expected here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseRowBreaks("A.txt", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRowBreakApply(t *testing.T) {
	const src = "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\n\ta()\n\ta()\n}\n"
	for _, c := range []struct {
		name  string
		b     rowBreak
		want  string
		fault string
	}{
		{"once", rowBreak{from: "b()", to: "c()"}, "func f() {\n\ta()\nc()\n}\n\nfunc g() {\n\ta()\n\ta()\n}\n", ""},
		{"twice", rowBreak{from: "a()", to: "c()"}, "", `has "a()" at line 2 and at line 7; an @ line must say which`},
		{"behind", rowBreak{after: []string{"func g"}, from: "a()", to: "c()"}, "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\nc()\n\ta()\n}\n", ""},
		{"behind two", rowBreak{after: []string{"func g", "a("}, from: "a()", to: ""}, "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\n\ta()\n\n}\n", ""},
		{"gone", rowBreak{from: "c()", to: "d()"}, "", `has no line "c()"`},
		{"before", rowBreak{after: []string{"func g"}, from: "b()", to: "d()"}, "", `has no line "b()"`},
		{"no anchor", rowBreak{after: []string{"func h"}, from: "b()", to: "d()"}, "", `holds no "func h"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.b.apply(src)
			if got != c.want || c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("got %q, %v, want %q, %q", got, err, c.want, c.fault)
			}
		})
	}
}

func TestRowBreakOpensProductOnly(t *testing.T) {
	for _, file := range []string{"../layout.go", "layout_test.go", "README.md", "nowhere.go"} {
		if _, _, err := (rowBreak{file: file, from: "a", to: "b"}).open(root); err == nil {
			t.Errorf("%s: got no error", file)
		}
	}
}

// tinyModule is a repository with two rows and a break for each of their tests to judge.
func tinyModule(t *testing.T, breaks string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/tiny\n\ngo 1.26\n",
		"docs/requirements.md": "| A | b | c |\n| 000-01 | limits | `limit.TestLimit` |\n| 000-02 | says so | `limit.TestText`, `limit.TestLimit` |\n" +
			"| 001-01 | grows | not yet |\n",
		"limit/limit.go": "package limit\n\nfunc Limit(n int) bool {\n\treturn n > 10\n}\n\nfunc Text() string {\n\treturn \"a\"\n}\n",
		"limit/limit_test.go": "package limit\n\nimport \"testing\"\n\nfunc TestLimit(t *testing.T) {\n\tif Limit(10) {\n\t\tt.Error(10)\n\t}\n}\n\n" +
			"func TestText(t *testing.T) {\n\tText()\n}\n\nfunc TestNamedByNoRow(t *testing.T) {\n\tif Text() != \"a\" {\n\t\tt.Error(Text())\n\t}\n}\n",
		"other/other.go":    "package other\n\nconst A = 1\n",
		rowDir + "/000.txt": breaks,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	breakLimit = "000-01 limit/limit.go\n- return n > 10\n+ return n >= 10\n\n"
	breakText  = "000-02 limit/limit.go\n- return \"a\"\n+ return \"b\"\n\n"
)

// Only the tests that a row names are asked, and a row without a break is missed.
func TestBreakRows(t *testing.T) {
	for _, c := range []struct {
		name, breaks string
		ids          []string
		code         int
		want         rowReport
	}{
		{"noticed", breakLimit, []string{"000-01"}, 0, rowReport{Rows: 1, Breaks: 1, Caught: 1, Missed: []string{}}},
		{"noticed by no named test", breakLimit + breakText, nil, 1, rowReport{Rows: 3, Breaks: 2, Caught: 1, Missed: []string{"000-02 000.txt:5"}, Unproved: []string{"001-01"}}},
		{"no break", breakLimit, []string{"000"}, 1, rowReport{Rows: 2, Breaks: 1, Caught: 1, Missed: []string{"000-02"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(tinyModule(t, c.breaks))
			var got rowReport
			code, out, progress := runJSON(t, &got, append([]string{"-rows"}, c.ids...)...)
			if code != c.code || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %d, %+v, want %d, %+v\n%s%s", code, got, c.code, c.want, out, progress)
			}
		})
	}
}

func TestBreakRowsRefuses(t *testing.T) {
	for _, c := range []struct{ name, breaks, id, want string }{
		{"no compile", "000-01 limit/limit.go\n- return n > 10\n+ return n > m\n", "", "000.txt:1: 000-01: it does not compile"},
		{"rotten", "000-01 limit/limit.go\n- return n > 11\n+ return n > 12\n", "", "has no line"},
		{"no such row", breakLimit, "000-03", "row 000-03: docs/requirements.md has none"},
		{"of another package", "000-01 other/other.go\n- const A = 1\n+ const A = 2\n", "", "no test that the row names is built from other/other.go"},
		{"wrong form", "000-01\n", "", "want a row and a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(tinyModule(t, c.breaks))
			var out, errs strings.Builder
			if code := run(t.Context(), []string{"-rows", c.id}, &out, &errs); code != 2 || !strings.Contains(errs.String(), c.want) {
				t.Errorf("got %d, %q, want 2, %q", code, errs.String(), c.want)
			}
		})
	}
}

// Tests that fail as they are would seem to notice every break.
func TestBreakRowsWantsPassingTests(t *testing.T) {
	dir := tinyModule(t, breakLimit)
	if err := os.WriteFile(filepath.Join(dir, "limit", "limit.go"), []byte("package limit\n\nfunc Limit(n int) bool {\n\treturn n > 10 || true\n}\n\nfunc Text() string { return \"\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"-rows"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "fail as they are; mend them first") {
		t.Errorf("got %d, %q", code, errs.String())
	}
}
