package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A requirement is a row of docs/requirements.md. internal/lint checks the form of the document and that the tests exist.
type requirement struct {
	id     string
	proofs []proof // none for "not yet"
}

// A proof is a test that a row names.
type proof struct {
	pkg  string // a pattern for the go command, such as ./heat
	test string
}

var (
	rowLine   = regexp.MustCompile(`^\| ((?:\d{3}-|[XMR])\d+) \|`)
	proofName = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Example)\\w*)`")
)

func readRequirements(root string) ([]requirement, error) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "requirements.md"))
	if err != nil {
		return nil, err
	}
	return parseRequirements(string(doc)), nil
}

func parseRequirements(doc string) (rows []requirement) {
	for line := range strings.Lines(doc) {
		m := rowLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		r := requirement{id: m[1]}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for _, p := range proofName.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			pkg := "./" + p[1]
			if p[1] == "heatsink" {
				pkg = "."
			}
			r.proofs = append(r.proofs, proof{pkg, p[2]})
		}
		rows = append(rows, r)
	}
	return rows
}
