package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
)

// Two stretches of code are clones if they are the same tokens and differ in names and literals only, consistently: each
// name or literal of one stands for the same one of the other throughout. Shorter ones than this are idioms of the
// language more often than copies.
const cloneTokens = 100

// clone is a stretch of code that is there before, in this file or another one.
type clone struct {
	Tokens int    `json:"tokens"`
	Lines  int    `json:"lines"` // that have a token
	At     string `json:"at"`    // file:line
	Of     string `json:"of"`    // file:line of the earlier one
}

func (c clone) size() string { return fmt.Sprintf("%d tokens on %d lines", c.Tokens, c.Lines) }

func (c clone) String() string { return fmt.Sprintf("%s, %s as %s", c.size(), c.At, c.Of) }

// word is a token of a file.
type word struct {
	kind token.Token
	text string // of names and literals
	line int
}

// text is the tokens of a file.
type text struct {
	path  string
	words []word
}

// spot is a place in a text.
type spot struct{ text, word int }

// clones finds the stretches of at least so many tokens that are there before, largest first. A stretch that is there three
// times is two clones. Comments, package clauses and imports do not count.
func (t *tree) clones(tokens int) []clone {
	var texts []text
	for _, p := range t.packages {
		for _, f := range p.files {
			texts = append(texts, f.text())
		}
	}
	seeds := map[uint64][]spot{}
	for i, t := range texts {
		for at, sum := range t.windows(tokens) {
			seeds[sum] = append(seeds[sum], spot{i, at})
		}
	}
	found := []clone{} // a list in JSON, too
	for i, t := range texts {
		skip := 0 // what is before belongs to a clone already
		for at, sum := range t.windows(tokens) {
			if at < skip {
				continue
			}
			best := clone{Tokens: tokens - 1}
			for _, of := range seeds[sum] {
				if of.text > i || of.text == i && of.word >= at {
					break // seeds are in the order of the texts
				}
				n := alike(texts[of.text].words[of.word:], t.words[at:])
				if of.text == i {
					n = min(n, at-of.word) // the two must not overlap
				}
				if n > best.Tokens {
					best = clone{Tokens: n, At: t.place(at), Of: texts[of.text].place(of.word)}
				}
			}
			if best.At == "" {
				continue
			}
			best.Lines = linesOf(t.words[at : at+best.Tokens])
			found = append(found, best)
			skip = at + best.Tokens
		}
	}
	slices.SortStableFunc(found, func(a, b clone) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return found
}

// windows yields each place of the text from which there are n tokens, with a hash of their kinds.
func (t text) windows(n int) func(yield func(int, uint64) bool) {
	return func(yield func(int, uint64) bool) {
		const base = 1_000_003
		var sum, top uint64 = 0, 1 // top is base to the power of n
		for range n {
			top *= base
		}
		for i, w := range t.words {
			sum = sum*base + uint64(w.kind) + 1
			if i >= n {
				sum -= top * (uint64(t.words[i-n].kind) + 1)
			}
			if i >= n-1 && !yield(i-n+1, sum) {
				return
			}
		}
	}
}

// alike returns how many tokens of a and b are the same but for names and literals that stand for each other.
func alike(a, b []word) int {
	forth, back := map[string]string{}, map[string]string{}
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x.kind != y.kind {
			return i
		}
		if x.text == "" && y.text == "" {
			continue
		}
		if to, known := forth[x.text]; known && to != y.text {
			return i
		}
		if from, known := back[y.text]; known && from != x.text {
			return i
		}
		forth[x.text], back[y.text] = y.text, x.text
	}
	return n
}

// linesOf returns on how many lines the tokens are.
func linesOf(words []word) int {
	n, last := 0, 0
	for _, w := range words {
		if w.line != last {
			n, last = n+1, w.line
		}
	}
	return n
}

// place returns the file and line of a token.
func (t text) place(at int) string { return fmt.Sprintf("%s:%d", t.path, t.words[at].line) }

// text returns the tokens of a file behind its imports.
func (f *file) text() text { return text{f.path, scan(f.source, f.bodyStart())} }

// scan returns the tokens from an offset on, without comments and the semicolons that are not written.
func scan(source []byte, from int) []word {
	var words []word
	at := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(at, source, nil, 0)
	for {
		pos, kind, lit := s.Scan()
		if kind == token.EOF {
			return words
		}
		if at.Offset(pos) < from || kind == token.SEMICOLON && lit == "\n" {
			continue
		}
		w := word{kind: kind, line: at.Line(pos)}
		if kind == token.IDENT || kind.IsLiteral() {
			w.text = lit
		}
		words = append(words, w)
	}
}

// bodyStart returns the offset behind the file's imports.
func (f *file) bodyStart() int {
	end := f.syntax.Name.End()
	for _, d := range f.syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			end = g.End()
		}
	}
	return int(end - f.syntax.FileStart)
}
