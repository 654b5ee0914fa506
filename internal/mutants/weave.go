package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A site is what a change may be woven into: the body of a function, or the value of a variable of the package. What runs
// there is chosen when a process starts, so that one build serves all changes.
type site struct {
	from, to int    // the body with its braces, or the value
	results  string // of the function, as they are written
	variable string // empty for a function
	generic  bool   // a generic function
}

// The environment of a process says which change it runs, and where it notes those that it could have run.
const (
	chosenVar  = "MUTANTS_CHOSEN"
	reachedVar = "MUTANTS_REACHED"
)

// chooser is the file that is added to a woven package. Its variables are set before all that depend on them.
const chooser = `package %s

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

var (
	mutantChosen, _ = strconv.Atoi(os.Getenv("` + chosenVar + `"))
	mutantReached   = os.Getenv("` + reachedVar + `")
	mutantNoted     [%d]atomic.Bool
)

func mutantIs(n int) bool {
	if mutantReached != "" && !mutantNoted[n].Swap(true) {
		_ = os.WriteFile(filepath.Join(mutantReached, strconv.Itoa(n)), nil, 0o600)
	}
	return n == mutantChosen
}
`

// isWoven reports whether a change has a site. Constants and types have none.
func (c change) isWoven() bool { return c.to > 0 }

// broken is the text of the change's site with the change.
func (c change) broken(src []byte) string {
	return string(src[c.from:c.start]) + c.text + string(src[c.end:c.to])
}

// weave writes the files of a package with changes, and an overlay of them. In the woven program, a change goes by its index plus
// one: zero is the program as it is.
func weave(dir string, p *tests, changes []change, without map[int]bool) (overlay string, err error) {
	byFile := map[string][]int{}
	for i, c := range changes {
		if c.isWoven() && !without[i] {
			byFile[c.file] = append(byFile[c.file], i)
		}
	}
	replace := map[string]string{}
	add := func(file, text string) error {
		replace[file] = filepath.Join(dir, "woven-"+filepath.Base(file))
		return os.WriteFile(replace[file], []byte(text), 0o600)
	}
	for file, chosen := range byFile {
		src, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if err := add(file, weaveFile(file, src, changes, chosen)); err != nil {
			return "", err
		}
	}
	if err := add(filepath.Join(p.dir, "mutants_chooser.go"), fmt.Sprintf(chooser, p.name, len(changes)+1)); err != nil {
		return "", err
	}
	return writeOverlay(dir, replace)
}

// weaveFile puts the broken copies of a function in front of its body, and assigns broken values of variables at the end.
// Errors of the compiler name the copy that they are in.
func weaveFile(file string, src []byte, changes []change, chosen []int) string {
	chosen = slices.SortedStableFunc(slices.Values(chosen), func(i, j int) int { return changes[i].from - changes[j].from })
	var woven, last strings.Builder
	done := 0
	for n, i := range chosen {
		c := changes[i]
		copied := fmt.Sprintf("/*line mutant-%d.go:1:1*/%s", i+1, c.broken(src))
		if c.variable != "" {
			fmt.Fprintf(&last, "\nfunc init() { if mutantIs(%d) { %s = %s } }\n", i+1, c.variable, copied)
			continue
		}
		inside := c.from + 1
		woven.Write(src[done:inside])
		done = inside
		call := "return func() %s %s()"
		if c.results == "" {
			call = "func() %s %s(); return"
		}
		fmt.Fprintf(&woven, " if mutantIs(%d) { "+call+" };", i+1, c.results, copied)
		if n+1 == len(chosen) || changes[chosen[n+1]].from != c.from {
			begin := bytes.LastIndexByte(src[:inside], '\n') + 1
			fmt.Fprintf(&woven, "/*line %s:%d:%d*/", file, bytes.Count(src[:inside], []byte("\n"))+1, inside-begin+1)
		}
	}
	return woven.String() + string(src[done:]) + last.String()
}

var copyName = regexp.MustCompile(`mutant-(\d+)\.go:\d+`)

// faulty lists the changes whose copies the compiler complains about.
func faulty(output string) (changes []int) {
	for _, found := range copyName.FindAllStringSubmatch(output, -1) {
		if n, err := strconv.Atoi(found[1]); err == nil && !slices.Contains(changes, n-1) {
			changes = append(changes, n-1)
		}
	}
	return changes
}
