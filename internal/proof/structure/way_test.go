package main

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// smallWay does for the tree small what the real one does for heatsink.
const smallWay = `package main

import (
	"os"
	"runtime/coverage"

	"example.com/small"
)

func main() {
	s := small.Open()
	s.Query()
	count("put", s.Put)
	count("query", func() { s.Query() })
}

func count(name string, f func()) {
	dir := os.Args[1] + "/" + name
	must(os.Mkdir(dir, 0o755))
	must(coverage.ClearCounters())
	f()
	must(coverage.WriteCountersDir(dir))
	must(coverage.WriteMetaDir(dir))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
`

// Query is in the warm-up, and not on the way of a Put. What the engine links as well is on no way.
func TestWays(t *testing.T) {
	got, err := read(t, "small").ways(t.Context(), []byte(smallWay))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "root files of a Put", got.Put.Root, []string{"store.go"})
	same(t, "other files of a Put", got.Put.Others, []string{"internal/mid/mid.go"})
	same(t, "root files of a Query", got.Query.Root, []string{"query.go"})
	same(t, "other files of a Query", got.Query.Others, nil)
}

func TestWaysRefuse(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"does not compile", "s.Put", "s.Post", "s.Post undefined"},
		{"fails", "s := small.Open()", `panic("no engine")`, "no engine"},
		{"executes nothing", `count("put", s.Put)`, `count("put", func() {})`, "put executes nothing of the library"},
		{"leaves a way out", `count("put", s.Put)`, "", "covdata"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := strings.Replace(smallWay, c.old, c.new, 1)
			if c.name == "fails" {
				program = strings.Replace(program, "	s.Query()\n	count(\"put\", s.Put)\n	count(\"query\", func() { s.Query() })\n", "	small.Open()\n", 1)
			}
			if _, err := read(t, "small").ways(t.Context(), []byte(program)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one about %q", err, c.want)
			}
		})
	}
}

// The real program does what its tree is measured by: a Put goes through the file of Put, and a Query through that of
// Query.
func TestWaysOfThisTree(t *testing.T) {
	tree, err := readTree("../../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.ways(t.Context(), wayProgram)
	if err != nil {
		t.Fatal(err)
	}
	for name, way := range map[string]way{"Put": got.Put, "Query": got.Query} {
		if file := method(tree, "Collection", name); !slices.Contains(way.Root, file) {
			t.Errorf("%s: %q, where it begins, is not on its way: %v", name, file, way.Root)
		}
	}
	// The warm-up does both: without clearing the counters behind it, each way would contain the other.
	if contains(got.Put.Root, got.Query.Root) || contains(got.Query.Root, got.Put.Root) {
		t.Errorf("one way contains the other:\nPut %v\nQuery %v", got.Put.Root, got.Query.Root)
	}
}

// contains reports whether all has every one of some.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// method returns the file of the root that has a method.
func method(t *tree, receiverName, name string) string {
	for _, f := range t.pkg(".").files {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == name && receiver(fn) == receiverName {
				return f.path
			}
		}
	}
	return ""
}
