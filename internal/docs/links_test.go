package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	linkByName = regexp.MustCompile(`^\s*\[[^\]]+\]:\s+(\S+)`)
	htmlTarget = regexp.MustCompile(`(?:src|href|srcset)="([^"]+)"`)
)

// links returns what a page links to, by line.
func (p page) links() map[int][]string {
	found := map[int][]string{}
	for _, l := range p.prose {
		text := inlineCode.ReplaceAllString(l.text, "``")
		for _, pattern := range []*regexp.Regexp{linkTarget, linkByName, htmlTarget} {
			for _, match := range pattern.FindAllStringSubmatch(text, -1) {
				found[l.number] = append(found[l.number], match[1])
			}
		}
	}
	return found
}

// Every link of every page leads to a file of the repository, and to a heading that the page has.
func TestLinks(t *testing.T) {
	all := pages(t)
	known := map[string]page{}
	for _, p := range all {
		known[p.path] = p
	}
	links := 0
	for _, p := range all {
		for number, targets := range p.links() {
			for _, target := range targets {
				links++
				if fault := fault(p.path, target, known); fault != "" {
					t.Errorf("%s:%d: link %s: %s", p.path, number, target, fault)
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found: are they still recognized?", links)
	}
}

// fault returns what is wrong with a link of a page, or "".
func fault(from, target string, known map[string]page) string {
	to, err := url.Parse(target)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme == "http" || to.Scheme == "https":
		return "" // somebody else's: tests use no network
	case to.Scheme != "" || to.Host != "" || path.IsAbs(to.Path):
		return "want a relative path, or a URL of http or https"
	}
	file := from
	if to.Path != "" {
		file = path.Join(path.Dir(from), to.Path)
	}
	if strings.HasPrefix(file, "..") {
		return "it leads out of the repository"
	}
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return "there is no such file"
	}
	if to.Fragment == "" {
		return ""
	}
	p, ok := known[file]
	switch {
	case !ok:
		return "it is no page, so it has no headings"
	case !slices.Contains(p.heads, to.Fragment):
		return "the page has no such heading"
	}
	return ""
}

func TestFaultsOfLinks(t *testing.T) {
	known := map[string]page{"docs/heat.md": parse("docs/heat.md", "# Heat\n\n## In tests\n")}
	for target, want := range map[string]string{
		"heat.md#in-tests": "", "../README.md": "", "https://example.com/x#y": "", "recipes": "",
		"heat.md#nowhere": "the page has no such heading", "nowhere.md": "there is no such file", "../../x": "it leads out of the repository",
		"/docs/heat.md": "want a relative path, or a URL of http or https", "../doc.go#L1": "it is no page, so it has no headings",
	} {
		if got := fault("docs/heat.md", target, known); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	p := parse("x.md", "a `[x](code)` [b](one) ![p](two.png \"t\")\n<img src=\"three.png\" alt=\"\">\n\n[n]: four\n```\n[c](five)\n```\n")
	if got := p.links(); strings.Join(append(append(got[1], got[2]...), got[4]...), " ") != "one two.png three.png four" || len(got) != 3 {
		t.Errorf("links %v", got)
	}
}
