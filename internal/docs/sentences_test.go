package docs

import (
	"regexp"
	"strings"
	"testing"
)

// longest is how many words a sentence of the documentation may have. Writers aim at 25.
const longest = 32

var (
	spelled  = regexp.MustCompile("`[^`]*`") // counts as a word
	pointed  = regexp.MustCompile(`\]\([^)]*\)`)
	marked   = regexp.MustCompile(`^\s*([-*>]|\d+\.) `)
	apart    = regexp.MustCompile(`^\s*([-*>#|]|\d+\.) |^\s*(\||<!--)|^\s*$`)
	sentence = regexp.MustCompile(`[.!?][*")]*(\s+|$)`)
)

// tooLong returns the sentences of a page that have too many words. Tables, headings and code are left out.
func tooLong(p page) (found []string) {
	var text string
	read := func() {
		for _, s := range sentence.Split(pointed.ReplaceAllString(spelled.ReplaceAllString(text, "code"), "]"), -1) {
			if len(strings.Fields(s)) > longest {
				found = append(found, s)
			}
		}
		text = ""
	}
	last := 0
	for _, l := range p.prose {
		if begins := apart.MatchString(l.text); begins || l.number != last+1 {
			read()
			if strings.HasPrefix(strings.TrimSpace(l.text), "|") || strings.HasPrefix(l.text, "#") {
				l.text = ""
			}
			l.text = marked.ReplaceAllString(l.text, "")
		}
		text, last = text+" "+l.text, l.number
	}
	read()
	return found
}

// Readers get sentences that they can read at once.
func TestSentencesAreShort(t *testing.T) {
	for _, p := range pages(t) {
		for _, s := range tooLong(p) {
			if !strings.HasPrefix(p.path, "CHANGELOG") {
				t.Errorf("%s: a sentence has more than %d words: %s", p.path, longest, strings.TrimSpace(s))
			}
		}
	}
	long, code := strings.TrimSpace(strings.Repeat("word ", longest)), "\n```go\nx\n```\n"
	p := parse("x.md", "# "+long+"head\n"+long+".\n**Bold.** "+long+code+long+"\n| "+long+"|\n- "+long+code+"\n1. `a b c` "+long[5:]+" [more](x y)\n")
	if got := tooLong(p); len(got) != 1 {
		t.Errorf("%d sentences are too long, want 1: %q", len(got), got)
	}
}
