package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// root is the repository, seen from this package's directory, where go test runs us.
const root = "../.."

// page is a Markdown file.
type page struct {
	path   string // relative to root, with slashes
	blocks []block
	prose  []line   // what is outside of blocks
	heads  []string // anchors of its headings
}

// block is a block of code between fences.
type block struct {
	page string
	line int    // of its first fence
	lang string // behind the fence: go, sh and so on
	mark string // the comment in front of it, without its brackets
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// line is a line of prose.
type line struct {
	number int
	text   string
}

// pages returns all pages of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	all, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readPages() (all []page, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, parse(filepath.ToSlash(rel), string(text)))
		return err
	})
	return all, err
}

// pageOf returns a page by its path.
func pageOf(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return parse(path, string(text))
}

var comment = regexp.MustCompile(`^<!--\s*(.*?)\s*-->$`)

// parse reads the blocks, prose and headings of a page.
func parse(path, text string) page {
	p := page{path: path}
	seen := map[string]int{}
	var open *block
	var indent, mark string
	for number, text := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(text)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			indent = text[:strings.Index(text, "`")]
			open = &block{page: path, line: number + 1, lang: strings.TrimPrefix(trimmed, "```"), mark: mark}
			continue
		case open != nil && trimmed == "```":
			p.blocks = append(p.blocks, *open)
			open, mark = nil, ""
			continue
		case open != nil:
			open.text += strings.TrimPrefix(text, indent) + "\n"
			continue
		}
		if found := comment.FindStringSubmatch(trimmed); found != nil {
			mark = found[1]
		} else if trimmed != "" {
			mark = ""
		}
		p.prose = append(p.prose, line{number + 1, text})
		if level := len(text) - len(strings.TrimLeft(text, "#")); level > 0 && level < 7 && strings.HasPrefix(text[level:], " ") {
			p.heads = append(p.heads, anchor(text[level+1:], seen))
		}
	}
	return p
}

var inlineLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// anchor returns what a heading is linked by, as GitHub makes it. seen counts those of the page, which are numbered if they are alike.
func anchor(heading string, seen map[string]int) string {
	heading = inlineLink.ReplaceAllString(strings.TrimSpace(heading), "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	text := b.String()
	seen[text]++
	if n := seen[text]; n > 1 {
		return fmt.Sprintf("%s-%d", text, n-1)
	}
	return text
}

func TestParse(t *testing.T) {
	p := parse("x.md", "# A `b` & c\n\n<!-- needs AWS -->\n```sh\none\n```\n1. text\n\n   ```go\n   x := 1\n   ```\n## Same\n## Same\n")
	if want := []string{"a-b--c", "same", "same-1"}; fmt.Sprint(p.heads) != fmt.Sprint(want) {
		t.Errorf("headings %q, want %q", p.heads, want)
	}
	want := []block{{"x.md", 4, "sh", "needs AWS", "one\n"}, {"x.md", 9, "go", "", "x := 1\n"}}
	if fmt.Sprint(p.blocks) != fmt.Sprint(want) || p.blocks[0] != want[0] || p.blocks[1] != want[1] {
		t.Errorf("blocks %+v, want %+v", p.blocks, want)
	}
}
