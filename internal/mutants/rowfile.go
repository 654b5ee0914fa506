package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rowDir holds the written breaks, a file for each table of docs/requirements.md. It is seen from the repository's root.
//
//	# a comment
//	000-01 layout.go
//	@ func (l Layout) ShardKeys(
//	- for shard := range max(1, l.Shards) {
//	+ for shard := range max(1, l.Shards) - 1 {
//
// The first line names the row and the file. Each "@" line is a text that the file holds; the search goes on behind the line
// that has it. The line behind "-" becomes the line behind "+"; white space around lines does not count. Without "@" the
// old line must be in the file once. A "+" with nothing behind it drops the line. Breaks are separated by empty lines.
const rowDir = "internal/mutants/rows"

// A rowBreak is one written break.
type rowBreak struct {
	at       string // "000.txt:7", where it is written
	row      string
	file     string // relative to the repository's root, with slashes
	after    []string
	from, to string
}

// readRowBreaks reads all written breaks, and returns everything that is wrong with them.
func readRowBreaks(root string) (breaks []rowBreak, err error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(rowDir), "*.txt"))
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		more, err := parseRowBreaks(filepath.Base(file), string(text))
		breaks = append(breaks, more...)
		faults = append(faults, err)
	}
	return breaks, errors.Join(faults...)
}

// parseRowBreaks reads one file.
func parseRowBreaks(name, text string) (breaks []rowBreak, err error) {
	var faults []error
	var b *rowBreak
	var minus, plus bool
	end := func() {
		switch {
		case b == nil:
			return
		case !minus || !plus:
			faults = append(faults, fmt.Errorf("%s: %s: a break needs one - line and one + line", b.at, b.row))
		case b.from == "" || b.from == b.to:
			faults = append(faults, fmt.Errorf("%s: %s: it changes nothing: %q becomes %q", b.at, b.row, b.from, b.to))
		default:
			breaks = append(breaks, *b)
		}
		b, minus, plus = nil, false, false
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		at := fmt.Sprintf("%s:%d", name, n)
		line = strings.TrimRight(line, "\r\n")
		kind, rest := "", ""
		if line != "" {
			kind, rest = line[:1], strings.TrimSpace(line[1:])
		}
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case kind == "#":
		case b == nil:
			words := strings.Fields(line)
			if len(words) != 2 {
				faults = append(faults, fmt.Errorf("%s: got %q, want a row and a file, as in \"000-01 layout.go\"", at, line))
				continue
			}
			b = &rowBreak{at: at, row: words[0], file: words[1]}
		case kind == "@" && rest != "" && !minus:
			b.after = append(b.after, rest)
		case kind == "-" && !minus:
			b.from, minus = rest, true
		case kind == "+" && minus && !plus:
			b.to, plus = rest, true
		default:
			faults = append(faults, fmt.Errorf("%s: %s: %q is not expected here; a break is its @ lines, one - line, one + line", at, b.row, line))
		}
	}
	end()
	return breaks, errors.Join(faults...)
}

// find returns the line of src that is broken, counted from zero.
func (b rowBreak) find(lines []string) (int, error) {
	from := 0
	for _, anchor := range b.after {
		n := slices.IndexFunc(lines[from:], func(line string) bool { return strings.Contains(line, anchor) })
		if n < 0 {
			return 0, fmt.Errorf("%s: %s: %s holds no %q (after the @ lines before it)", b.at, b.row, b.file, anchor)
		}
		from += n + 1
	}
	found := -1
	for i := from; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != b.from {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s: %s: %s has %q at line %d and at line %d; an @ line must say which", b.at, b.row, b.file, b.from, found+1, i+1)
		}
		found = i
		if len(b.after) > 0 {
			break
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("%s: %s: %s has no line %q (after its @ lines)", b.at, b.row, b.file, b.from)
	}
	return found, nil
}

// apply returns the broken file.
func (b rowBreak) apply(src string) (broken string, err error) {
	lines := strings.Split(src, "\n")
	n, err := b.find(lines)
	if err != nil {
		return "", err
	}
	lines[n] = b.to
	return strings.Join(lines, "\n"), nil
}

// open reads the file and breaks it. The path is absolute if root is.
func (b rowBreak) open(root string) (path, broken string, err error) {
	local := filepath.FromSlash(b.file)
	if !filepath.IsLocal(local) || !strings.HasSuffix(b.file, ".go") || strings.HasSuffix(b.file, "_test.go") {
		return "", "", fmt.Errorf("%s: %s: %s is no Go file of the product", b.at, b.row, b.file)
	}
	path = filepath.Join(root, local)
	src, err := os.ReadFile(path)
	if err != nil {
		return "", "", fmt.Errorf("%s: %s: %w", b.at, b.row, err)
	}
	broken, err = b.apply(string(src))
	return path, broken, err
}
