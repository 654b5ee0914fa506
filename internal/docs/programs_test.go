package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every program of the documentation compiles. One without a name of its own runs as it is pasted, and prints what the page shows.
func TestPrograms(t *testing.T) {
	dir := binaries(t)
	ran := 0
	for _, p := range pages(t) {
		for i, b := range p.blocks {
			if b.lang != "go" || !strings.HasPrefix(b.text, "package main\n") || strings.HasPrefix(b.mark, "file: ") {
				continue
			}
			ran++
			t.Run(b.String(), func(t *testing.T) {
				out, err := exec.CommandContext(t.Context(), filepath.Join(dir, binary(b))).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if i+1 < len(p.blocks) {
					compare(t, p.blocks[i+1], string(out))
				}
			})
		}
	}
	if ran == 0 {
		t.Error("the documentation has no program")
	}
}

// compare compares what was printed with a block, if that is marked as output. "…" stands for anything.
func compare(t *testing.T, want block, got string) {
	t.Helper()
	figures := want.mark == "output, figures vary"
	if want.mark != "output" && !figures {
		return
	}
	if pattern := pattern(want.text, figures); !pattern.MatchString(strings.TrimSpace(plain(got)) + "\n") {
		t.Errorf("%s shows\n%s\nbut it is\n%s", want, want.text, got)
	}
}

var (
	figure = regexp.MustCompile(`[0-9][0-9,.]*`)
	gaps   = regexp.MustCompile(` +`)
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// plain leaves out colours and the ends of lines.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(colour.ReplaceAllString(text, "")) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// pattern returns what matches a text with "…" in it. A line that is "…" stands for any number of lines.
func pattern(text string, figures bool) *regexp.Regexp {
	text = regexp.QuoteMeta(strings.TrimSpace(plain(text)) + "\n")
	text = strings.ReplaceAll(text, "…", ".*")
	text = strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n.*\n", "\n(?:.*\n)*"), "\n")
	if figures {
		text = figure.ReplaceAllString(strings.ReplaceAll(text, `\.`, "."), `[0-9][0-9,.]*`)
		text = gaps.ReplaceAllString(text, " +")
	}
	return regexp.MustCompile(`^` + text + `$`)
}

func TestPattern(t *testing.T) {
	for _, test := range []struct {
		want, got string
		figures   bool
		ok        bool
	}{
		{"a\nb\n", "a  \n\x1b[1mb\x1b[0m\n", false, true},
		{"a\n", "a\nb\n", false, false},
		{"a\n…\nc\n", "a\nb\nb\nc\n", false, true},
		{"a\n…\nc\n", "a\nc\n", false, true},
		{"…\nc\n", "a\nb\nc\n", false, true},
		{"took … s\n", "took 12 s\n", false, true},
		{"1,000 of 4\n", "998 of 4\n", false, false},
		{"   1,000.5 of 4.\n", "   998 of 3.\n", true, true},
		{"x  12 s\n", "x   3 s\n", true, true},
		{"x.y 1\n", "xzy one\n", true, false},
	} {
		if got := pattern(test.want, test.figures).MatchString(strings.TrimSpace(plain(test.got)) + "\n"); got != test.ok {
			t.Errorf("%q matches %q: %t, want %t", test.want, test.got, got, test.ok)
		}
	}
}
