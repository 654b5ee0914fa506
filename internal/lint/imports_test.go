package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/heatsink-go/heatsink"

// imports says for each package which packages of this module it imports. Names are directories of the repository;
// "." is the library itself.
type imports map[string][]string

// everything in a package's list lets it import whatever it likes.
const everything = "*"

// mayImport is the package map of docs/design.md. An import that is not listed here is a decision about the
// architecture: make it here, where it is seen. Test files are free, so that the library's examples can run on local.
var mayImport = imports{
	// The library, and the recipes on top of it.
	".":           {"layout", "internal/adapt", "internal/charter", "internal/ledger", "internal/place", "internal/expiry", "internal/version", "internal/attribute", "internal/attr", "internal/dispatch", "internal/expr/compose", "internal/forward", "internal/forward/carry", "internal/forward/express", "internal/gather", "internal/lease", "internal/meter", "internal/pagetoken", "internal/passage", "internal/sift", "internal/sortkey"},
	"cache":       {},
	"counter":     {".", "layout", "cache", "internal/schema", "internal/direct", "internal/dispatch", "internal/meter"},
	"leaderboard": {".", "layout", "internal/schema", "internal/direct", "internal/dispatch", "internal/meter"},
	"ratelimit":   {".", "layout", "internal/schema", "internal/direct"},
	"session":     {".", "layout", "internal/schema", "internal/direct", "internal/dispatch"},
	"eventlog":    {".", "layout", "internal/schema", "internal/direct", "internal/dispatch", "internal/ledger"},
	"replica":     {".", "layout", "internal/schema", "internal/direct", "internal/attribute"},

	"layout": {"internal/quote"},
	"move": {
		".", "counter", "layout", "plan", "internal/adapt", "internal/attribute", "internal/charter", "internal/dispatch", "internal/figure", "internal/forward", "internal/forward/carry",
		"internal/forward/express", "internal/lease", "internal/ledger", "internal/meter", "internal/passage", "internal/place", "internal/quote",
	},
	"internal/bubble":                  {},
	"internal/quote":                   {},
	"internal/attribute":               {"internal/attr", "internal/quote"},
	"internal/attribute/attributetest": {},
	"internal/place":                   {"layout", "internal/ledger", "internal/attr", "internal/attribute", "internal/quote", "internal/expr/compose"}, // sends nothing
	"internal/expiry":                  {"internal/attr"},
	"internal/sift":                    {"internal/attr", "internal/attribute", "internal/expr"},
	"internal/version":                 {"internal/place", "internal/expiry", "internal/attr", "internal/attribute", "internal/dispatch", "internal/expr", "internal/expr/compose", "internal/expr/outline", "internal/meter"},
	"internal/schema":                  {".", "internal/dispatch"},
	"internal/direct":                  {".", "internal/dispatch", "internal/meter"},
	"internal/dispatch":                {"internal/attempt", "internal/meter"},
	"internal/attempt":                 {},
	"internal/meter":                   {},
	"internal/gather":                  {}, // neither DynamoDB nor layouts
	"internal/judge":                   {},
	"internal/shape":                   {"internal/sketch"},
	"internal/sketch":                  {},
	"internal/figure":                  {},

	// The protocol of adaptive layouts: pure, and what tries to break it.
	"internal/adapt":         {"layout", "internal/charter", "internal/dispatch", "internal/ledger", "internal/meter"},
	"internal/ledger":        {"layout", "internal/figure"},
	"internal/ledger/sim":    {"internal/ledger", "layout"},
	"internal/forward":       {},
	"internal/forward/check": {"internal/forward"},
	"internal/forward/carry": {"internal/forward", "internal/forward/express", "internal/lease", "internal/dispatch", "internal/meter"},
	"internal/lease":         {"internal/dispatch"},
	"internal/passage":       {"layout", "internal/adapt", "internal/charter", "internal/forward", "internal/lease", "internal/ledger", "internal/place", "internal/quote"},
	"internal/charter":       {"internal/ledger", "internal/quote", "layout"},

	// The requests of moves as DynamoDB takes them; sends nothing.
	"internal/forward/express": {"internal/forward", "internal/attr", "internal/attribute", "internal/expr", "internal/expr/compose", "internal/expr/outline", "internal/expr/token"},

	// Positions in a read, and what they are made of: pure.
	"internal/pagetoken": {"layout", "internal/attr", "internal/sortkey"},
	"internal/sortkey":   {"internal/attr"},

	// What the command and the proofs send requests with.
	"internal/wholebody": {},

	// Useful alone.
	"heat":                 {"layout", "internal/attempt", "internal/dispatch", "internal/figure", "internal/judge", "internal/quote", "internal/shape", "internal/sketch", "internal/expr/outline", "internal/expr/token", "internal/partiql", "internal/attr"},
	"heat/heatcloudwatch":  {"heat", "layout"},
	"heat/heatlambda":      {"heat"},
	"heat/heatprom":        {"heat", "heat/internal/sample"},
	"heat/heattest":        {"heat", "local", "internal/quote", "internal/round", "local/partitions"}, // for users' tests: links the engine
	"heat/heatotel":        {"heat", "heat/internal/sample"},
	"heat/heatpage":        {"heat", "plan", "internal/observed", "internal/round", "local/partitions"}, // the types of partitions, not the engine
	"internal/observed":    {"heat", "layout", "plan", "internal/judge"},
	"internal/round":       {"heat", "layout", "local/partitions", "internal/sketch"},
	"heat/internal/sample": {"heat"},
	"keys":                 {},
	"plan":                 {"layout", "internal/figure", "internal/judge", "plan/internal/bins"},
	"plan/internal/bins":   {},

	// The engine, from the outside in.
	"local":                  {"local/partitions", "internal/wire", "internal/engine", "internal/partition"},
	"local/partitions":       {},
	"internal/wire":          {"internal/attempt", "internal/engine", "local/partitions", "internal/attr", "internal/attr/attrjson", "internal/jsonpull"},
	"internal/engine":        {"internal/attempt", "local/partitions", "internal/store", "internal/partition", "internal/partiql", "internal/expr", "internal/attr", "internal/sketch"},
	"internal/store":         {},
	"internal/partition":     {},
	"internal/partition/sim": {"internal/partition", "internal/figure"},
	"internal/expr":          {"internal/attr", "internal/expr/token"},
	"internal/partiql":       {"internal/expr", "internal/attr"},
	"internal/expr/outline":  {"internal/expr/token"},
	"internal/expr/compose":  {"internal/expr/outline", "internal/expr/token"},
	"internal/expr/token":    {},
	"internal/attr":          {},
	"internal/attr/attrjson": {"internal/attr", "internal/jsonpull"}, // apart, so that the library does not link it
	"internal/jsonpull":      {},

	// The command and what only it shows.
	"cmd/heatsink":    {everything},
	"internal/dump":   {"internal/attr", "internal/attr/attrjson", "internal/attribute", "internal/jsonpull"}, // any DynamoDB: not the engine
	"internal/lab":    {"internal/dispatch"},
	"internal/dist":   {}, // runs go and git
	"internal/doctor": {"heat", "layout", "internal/adapt", "internal/charter", "internal/dispatch", "internal/figure", "internal/lease", "internal/ledger", "internal/passage", "internal/place", "internal/quote"},
	// The lab: scenarios are data; what simulates them uses what decides without a network.
	"internal/lab/scenario": {"layout", "internal/ledger", "internal/quote"},
	"internal/lab/simulate": {"layout", "internal/dispatch", "internal/figure", "internal/lab/scenario", "internal/ledger", "internal/partition", "internal/partition/sim", "internal/place"},
	"internal/lab/report":   {"internal/figure", "internal/lab/scenario", "internal/lab/simulate", "internal/quote"},
	"internal/lab/replay":   {"heat", "internal/lab/scenario", "internal/observed"},
	"internal/lab/results":  {"internal/figure", "internal/lab/report", "internal/lab/scenario", "internal/lab/simulate"},
	"internal/console":      {"heat", "local/partitions", "internal/figure", "internal/round"},
	"internal/enginebench":  {"internal/peer"}, // runs the built command, as it runs the peers

	// What tests and benchmarks compare with.
	"internal/peer":       {},
	"internal/enginetest": {"local", "internal/peer"},
	"internal/peer/fetch": {"internal/peer"},

	// What shows the project's figures.
	"internal/proof/adaptive":      {everything},
	"internal/proof/engine":        {everything},
	"internal/proof/engine/answer": {},
	"internal/proof/engine/draw":   {},
	"internal/proof/engine/scale":  {"local", "internal/engine", "internal/wire", "internal/proof/scenario"},
	"internal/proof/firstcontact":  {everything},
	"internal/proof/heat":          {"internal/proof/scenario"},
	"internal/proof/library":       {everything},
	"internal/proof/moving":        {everything},
	"internal/proof/scenario":      {"internal/proof/verdict"},
	"internal/proof/server":        {everything},
	"internal/proof/structure":     {}, // reads the source, and builds the way
	"internal/proof/structure/way": {".", "local"},
	"internal/proof/verdict":       {},

	// An example uses what a user can import, and nothing internal.
	"examples/shop":         {".", "cache", "counter", "eventlog", "heat", "heat/heatpage", "heat/heatprom", "layout", "leaderboard", "local", "ratelimit"},
	"examples/shop/load":    {"examples/shop/traffic"},
	"examples/shop/traffic": {},

	// What makes the requests of tests go wrong.
	"internal/faulty": {},

	// Key schemas and workloads with the findings that they should have.
	"internal/corpus": {"heat", "layout"},

	// What compares stored items with files, in tests.
	"internal/golden": {},

	// What draws sort keys for tests.
	"internal/sortkey/sortkeytest": {"internal/sortkey", "internal/attr"},

	// Tests about the repository, and about its tests.
	"internal/docs":    {},
	"internal/lint":    {},
	"internal/mutants": {},
}

// theEngine must not end up in the binary of somebody who only uses the library, nor must the JSON that it speaks.
var theEngine = []string{
	"local", "internal/wire", "internal/engine", "internal/store", "internal/partition", "internal/partition/sim",
	"internal/attr/attrjson", "internal/jsonpull",
}

func TestImportsFollowThePackageMap(t *testing.T) {
	got := moduleImports(t)
	for _, v := range violations(got, mayImport) {
		t.Error(v)
	}
	for _, v := range leftOver(got, mayImport) {
		t.Error(v)
	}
}

// The code obeys the table; this makes sure that the table cannot be edited into linking the engine.
func TestPackageMapKeepsTheEngineOut(t *testing.T) {
	for _, engine := range theEngine {
		if _, ok := mayImport[engine]; !ok {
			t.Errorf("theEngine names %s, which is not in the package map: nothing would keep it out", engine)
		}
	}
	for _, pkg := range []string{".", "cache", "counter", "leaderboard", "ratelimit", "session", "eventlog", "replica", "move", "heat", "plan"} {
		reached := reachable(mayImport, pkg)
		for _, engine := range theEngine {
			if reached[engine] {
				t.Errorf("the package map lets %s reach %s", pkg, engine)
			}
		}
	}
}

func TestPackageMapNamesOnlyItsPackages(t *testing.T) {
	for pkg, allowed := range mayImport {
		for _, imp := range allowed {
			if _, ok := mayImport[imp]; !ok && imp != everything {
				t.Errorf("the package map lets %s import %s, which is not in it", pkg, imp)
			}
			if strings.HasPrefix(imp, "cmd/") {
				t.Errorf("the package map lets %s import a command, %s", pkg, imp)
			}
		}
	}
}

func TestViolations(t *testing.T) {
	table := imports{
		"top":    {everything},
		"middle": {"bottom"},
		"bottom": {},
		"absent": {"bottom"},
	}
	for _, c := range []struct {
		name string
		got  imports
		want []string
	}{
		{"nothing wrong", imports{"top": {"middle", "bottom"}, "middle": {"bottom"}, "bottom": nil}, nil},
		{"upwards", imports{"bottom": {"top"}}, []string{"bottom imports top; the package map allows it nothing of ours"}},
		{"sideways", imports{"middle": {"bottom", "absent"}}, []string{"middle imports absent; the package map allows it only bottom"}},
		{"newcomer", imports{"new": nil}, []string{"package new is not in the package map: add it to mayImport in internal/lint/imports_test.go"}},
		{"several", imports{"middle": {"top"}, "bottom": {"middle"}}, []string{
			"bottom imports middle; the package map allows it nothing of ours",
			"middle imports top; the package map allows it only bottom",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := violations(c.got, table); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLeftOver(t *testing.T) {
	table := imports{"top": {everything}, "middle": {"bottom", "side"}, "bottom": {}, "gone": {"bottom"}}
	got := leftOver(imports{"top": {"middle"}, "middle": {"bottom"}, "bottom": nil}, table)
	want := []string{
		"the package map has a row for gone, and there is no such package",
		"the package map lets middle import side, and it does not",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReachable(t *testing.T) {
	table := imports{"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
	got := slices.Sorted(maps.Keys(reachable(table, "a")))
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// violations returns what got does that table does not allow, one sentence each, in the order of package names.
func violations(got, table imports) []string {
	var faults []string
	for _, pkg := range slices.Sorted(maps.Keys(got)) {
		allowed, known := table[pkg]
		if !known {
			faults = append(faults, fmt.Sprintf("package %s is not in the package map: add it to mayImport in internal/lint/imports_test.go", pkg))
			continue
		}
		if slices.Contains(allowed, everything) {
			continue
		}
		only := "nothing of ours"
		if len(allowed) > 0 {
			only = "only " + strings.Join(allowed, ", ")
		}
		for _, imp := range got[pkg] {
			if !slices.Contains(allowed, imp) {
				faults = append(faults, fmt.Sprintf("%s imports %s; the package map allows it %s", pkg, imp, only))
			}
		}
	}
	return faults
}

// leftOver returns what table has that got does not: rows of packages that are gone and imports that nobody makes.
func leftOver(got, table imports) []string {
	var faults []string
	for _, pkg := range slices.Sorted(maps.Keys(table)) {
		made, there := got[pkg]
		if !there {
			faults = append(faults, fmt.Sprintf("the package map has a row for %s, and there is no such package", pkg))
			continue
		}
		for _, imp := range table[pkg] {
			if imp != everything && !slices.Contains(made, imp) {
				faults = append(faults, fmt.Sprintf("the package map lets %s import %s, and it does not", pkg, imp))
			}
		}
	}
	return faults
}

// reachable returns the packages that pkg imports, directly or through others.
func reachable(table imports, pkg string) map[string]bool {
	reached := map[string]bool{}
	var visit func(string)
	visit = func(pkg string) {
		for _, imp := range table[pkg] {
			if !reached[imp] {
				reached[imp] = true
				visit(imp)
			}
		}
	}
	visit(pkg)
	return reached
}

// moduleImports asks the go command, which knows about build constraints, what the module's packages import.
func moduleImports(t *testing.T) imports {
	t.Helper()
	goFiles(t) // so that go test does not answer from its cache: it cannot see which files the child reads

	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}

	got := imports{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		dir, ours := directory(pkg.ImportPath)
		if !ours {
			continue
		}
		got[dir] = nil
		for _, path := range pkg.Imports {
			if imp, ours := directory(path); ours {
				got[dir] = append(got[dir], imp)
			}
		}
	}
	if len(got) == 0 {
		t.Fatalf("go list names no package of %s", module)
	}
	return got
}

// directory returns where in the repository the package with this import path is, and false if it is somebody else's.
func directory(importPath string) (dir string, ours bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
