package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// The document, and the one that has its first table, too, if it has the markers. Both are relative to the root of the repository.
const (
	document = "docs/comparison-naive.md"
	readme   = "README.md"
	source   = "internal/proof/firstcontact/naive_test.go" // what people write themselves
)

// blocks are the generated parts of the document, by the name in their markers.
func (k *kept) blocks(root string) (map[string]string, error) {
	code, err := methodsOf(filepath.Join(root, source), "suffixes")
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"comparison":         k.Whole.headlines(),
		"comparison-words":   k.Whole.words(),
		"comparison-details": k.Whole.details(),
		"comparison-code":    "```go\n" + code + "```\n",
	}, nil
}

// fill replaces what is between the markers of a block. It reports whether there are any.
func fill(page, name, text string) (filled string, found bool, err error) {
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	before, rest, found := strings.Cut(page, begin)
	if !found {
		return page, false, nil
	}
	_, after, closed := strings.Cut(rest, end)
	if !closed || strings.Contains(after, begin) {
		return page, true, fmt.Errorf("%q is there without one %q after it", strings.TrimSpace(begin), end)
	}
	return before + begin + text + end + after, true, nil
}

// pages returns the documents as they must be, by their files.
func (k *kept) pages(root string) (map[string]string, error) {
	blocks, err := k.blocks(root)
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for _, file := range []string{document, readme} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		page := string(text)
		for name, block := range blocks {
			var found bool
			if page, found, err = fill(page, name, block); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if !found && file == document {
				return nil, fmt.Errorf("%s has no marker <!-- %s:begin -->", file, name)
			}
		}
		pages[file] = page
	}
	return pages, nil
}

// writePages brings the documents up to date.
func (k *kept) writePages(root string) error {
	pages, err := k.pages(root)
	if err != nil {
		return err
	}
	for file, page := range pages {
		if err := os.WriteFile(filepath.Join(root, file), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// methodsOf returns the methods of a type, as they are in a file.
func methodsOf(file, receiver string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var methods []string
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
		if ok && star.X.(*ast.Ident).Name == receiver {
			methods = append(methods, string(text[files.Position(f.Doc.Pos()).Offset:files.Position(f.End()).Offset])+"\n")
		}
	}
	if len(methods) == 0 {
		return "", fmt.Errorf("%s has no methods of %s", file, receiver)
	}
	return strings.Join(methods, "\n"), nil
}
