package main

import (
	"fmt"
	"slices"
	"strconv"
)

// number is one figure before and now, and what it must be.
type number struct {
	What   string
	Before string
	Now    string
	Goal   string // empty: none
	Missed bool
}

// value is a figure as a number, and as people read it.
type value struct {
	n    int
	text string
}

// goal is a number with what it must not exceed.
type goal struct {
	what string
	most int    // noGoal: any value is right
	goal string // as people read it; default: "at most" most
	of   func(figures) value
}

// noGoal is the most of a number that is only reported.
const noGoal = -1

// notMeasured is a value that there is none of. It misses every goal.
const notMeasured = -1

// mustNotLink is the package that the library has no use for.
const mustNotLink = "internal/jsonpull"

var goals = []goal{
	{"files of the root package", 28, "about 25, at most 28", func(f figures) value { return plain(f.RootFiles) }},
	{"lines of the root package", noGoal, "", func(f figures) value { return plain(f.RootLines) }},
	{"most methods of a type of the root", 25, "", func(f figures) value { return mostMethods(f.RootTypes) }},
	{"most files that a root type's methods are in", 3, "", func(f figures) value {
		return value{f.RootSpread.Files, fmt.Sprintf("%d (%s)", f.RootSpread.Files, f.RootSpread.name())}
	}},
	{"most methods of a type of the module", noGoal, "", func(f figures) value { return mostMethods(f.Types) }},
	{"root files on the way of a Put", 8, "", func(f figures) value { return f.Ways.files(f.Ways.Put.Root) }},
	{"root files on the way of a Query", 10, "", func(f figures) value { return f.Ways.files(f.Ways.Query.Root) }},
	{"other library files on the way of a Put", noGoal, "", func(f figures) value { return f.Ways.files(f.Ways.Put.Others) }},
	{"other library files on the way of a Query", noGoal, "", func(f figures) value { return f.Ways.files(f.Ways.Query.Others) }},
	{"types and functions that plan exports", 25, "", func(f figures) value { return exported(f.Names, "plan") }},
	{"types and functions that the root exports", noGoal, "", func(f figures) value { return exported(f.Names, ".") }},
	{"lines of the longest function", noGoal, "", func(f figures) value { return value{f.Longest.Lines, f.Longest.String()} }},
	{fmt.Sprintf("functions longer than %d lines", longFunction), noGoal, "", func(f figures) value { return plain(len(f.LongFunctions)) }},
	{fmt.Sprintf("clones of %d tokens or more", cloneTokens), noGoal, "", func(f figures) value { return plain(f.Clones) }},
	{"largest clone", noGoal, "", func(f figures) value {
		if len(f.Largest) == 0 {
			return value{0, "none"}
		}
		return value{f.Largest[0].Tokens, f.Largest[0].size()}
	}},
	{"packages of the module that the library links", noGoal, "", func(f figures) value { return plain(len(f.Links)) }},
	{"the library links " + mustNotLink, 0, "no", func(f figures) value {
		if slices.Contains(f.Links, mustNotLink) {
			return value{1, "yes"}
		}
		return value{0, "no"}
	}},
}

// numbers compares the goals' figures.
func numbers(before, now figures) []number {
	var all []number
	for _, g := range goals {
		then, today := g.of(before), g.of(now)
		n := number{What: g.what, Before: then.text, Now: today.text, Goal: g.goal}
		if g.most != noGoal {
			n.Missed = today.n > g.most || today.n == notMeasured
			if n.Goal == "" {
				n.Goal = fmt.Sprintf("at most %d", g.most)
			}
		}
		all = append(all, n)
	}
	return all
}

// missed returns a sentence for each number that misses its goal.
func missed(numbers []number) []string {
	sentences := []string{} // an empty list in JSON, too
	for _, n := range numbers {
		if n.Missed {
			sentences = append(sentences, fmt.Sprintf("%s: got %s, want %s", n.What, n.Now, n.Goal))
		}
	}
	return sentences
}

func plain(n int) value { return value{n, strconv.Itoa(n)} }

// mostMethods returns the methods of the first of types that are sorted by them.
func mostMethods(types []typeSize) value {
	if len(types) == 0 {
		return value{0, "0"}
	}
	return value{types[0].Methods, fmt.Sprintf("%d (%s)", types[0].Methods, types[0].name())}
}

func (w ways) files(files []string) value {
	if w.Error != "" {
		return value{notMeasured, "not measured"}
	}
	return plain(len(files))
}

// exported returns how many names a package exports.
func exported(all []names, dir string) value {
	for _, n := range all {
		if n.Package == dir {
			return plain(n.Types + n.Functions)
		}
	}
	return value{notMeasured, "no such package"}
}
