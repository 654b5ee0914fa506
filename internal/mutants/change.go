package main

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// A change breaks one line of a file: the bytes from start to end are replaced by text.
type change struct {
	file       string // absolute path
	line       int    // counted from one
	start, end int
	text       string
	operator   string // what kind of break it is
	before     string // the line as it is, without the white space around it
	after      string // the line as it becomes
	site              // where it can be chosen at run time
}

// newChange completes a change of src. It reports false if the bytes are not within one line, or stay the same.
func newChange(file string, src []byte, start, end int, text, operator string) (c change, ok bool) {
	old := string(src[start:end])
	if strings.Contains(old, "\n") || old == text {
		return c, false
	}
	from := bytes.LastIndexByte(src[:start], '\n') + 1
	to := len(src)
	if n := bytes.IndexByte(src[end:], '\n'); n >= 0 {
		to = end + n
	}
	line := string(src[from:to])
	broken := line[:start-from] + text + line[end-from:]
	return change{
		file: file, line: bytes.Count(src[:from], []byte("\n")) + 1,
		start: start, end: end, text: text, operator: operator,
		before: strings.TrimSpace(line), after: strings.TrimSpace(broken),
	}, true
}

// apply returns the broken file.
func (c change) apply(src []byte) []byte {
	return slices.Concat(src[:c.start], []byte(c.text), src[c.end:])
}

// shuffle orders changes by a seed. Every line has its turn before any line has its second. Within a line, strings come
// last: most are texts of errors, and there are many.
func shuffle(changes []change, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Compare(isLast(a), isLast(b))
	})
	type place struct {
		file string
		line int
	}
	seen := map[place]int{}
	turn := map[change]int{}
	for _, c := range changes {
		at := place{c.file, c.line}
		turn[c] = seen[at]
		seen[at]++
	}
	rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(turn[a], turn[b]) })
}

func isLast(c change) int {
	if c.operator == "string" {
		return 1
	}
	return 0
}
