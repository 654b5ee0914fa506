package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// others are programs of others that the documentation tells readers to run. What they do is not checked here.
var others = []string{
	"aws", "cat", "cd", "cp", "curl", "docker", "export", "git", "go", "jq", "mkdir", "mvn", "node", "npm", "pip", "python3", "sha256sum", "unset",
}

// Every command of the documentation exists, with its flags, and so does every target of make.
func TestCommands(t *testing.T) {
	dir, makefile := binaries(t), readFile(t, "Makefile")
	checked := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			for _, words := range commands(b.script()) {
				checked++
				switch name := words[0]; {
				case name == "heatsink":
					if fault := misunderstood(t, dir, words[1:]); fault != "" {
						t.Errorf("%s: %s: %s", b, strings.Join(words, " "), fault)
					}
				case name == "make":
					for _, target := range words[1:] {
						if !strings.Contains(target, "=") && !strings.Contains(makefile, "\n"+target+": ") {
							t.Errorf("%s: the Makefile has no target %s", b, target)
						}
					}
				case !slices.Contains(others, name):
					t.Errorf("%s: %s is no command that is known here", b, name)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d commands were found: are they still recognized?", checked)
	}
}

// script returns the commands of a block: all lines if it is one of a shell, and of others those that call heatsink, between what it prints.
func (b block) script() string {
	switch b.lang {
	case "sh":
		return b.text
	case "":
	default:
		return ""
	}
	var script strings.Builder
	for line := range strings.Lines(b.text) {
		if strings.HasPrefix(line, "heatsink ") {
			script.WriteString(line)
		}
	}
	return script.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// misunderstood returns what heatsink does not understand of its arguments, or "". With --help it checks subcommand, flags and their values, and does
// nothing.
func misunderstood(t *testing.T, dir string, args []string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "heatsink"), append(slices.Clone(args), "--help")...).CombinedOutput()
	switch {
	case err != nil:
		return string(out)
	case len(args) > 1 && strings.Contains(string(out), "heatsink "+args[0]+" [command]"):
		return "there is no such command of heatsink " + args[0]
	}
	return ""
}

var (
	assigned   = regexp.MustCompile(`^[A-Z_]+=`)
	redirected = regexp.MustCompile(`^[0-9]?[<>]`)
)

// commands returns the commands of a script, word by word. It knows quotes, comments, continued lines, pipes, redirections and variables in front of a
// command. "go run ./cmd/heatsink" is heatsink.
func commands(script string) [][]string {
	var all [][]string
	add := func(words []string) {
		for len(words) > 1 && assigned.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/heatsink" {
			words = append([]string{"heatsink"}, words[3:]...)
		}
		if len(words) > 0 {
			all = append(all, words)
		}
	}
	for text := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		var words []string
		skip := false
		for _, word := range split(text) {
			switch {
			case word == "|" || word == "||" || word == "&&" || word == ";" || word == "&":
				add(words)
				words = nil
			case redirected.MatchString(word):
				skip = word == ">" || word == "<" // its file is the next word
			case skip:
				skip = false
			default:
				words = append(words, word)
			}
		}
		add(words)
	}
	return all
}

// split splits a line into words as a shell does, without a comment at its end.
func split(text string) []string {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range strings.TrimRight(text, "\n") {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			end()
		case r == '#' && !begun:
			return words
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return words
}

func TestScriptsAreSplit(t *testing.T) {
	got := commands("A=1 heatsink plan --key 'a b' # why\ngo run ./cmd/heatsink demo >x 2>&1\n# nothing\n\nmake test \\\n  ONLY=x | jq -c \"a|b\" && cd ..\n")
	want := [][]string{{"heatsink", "plan", "--key", "a b"}, {"heatsink", "demo"}, {"make", "test", "ONLY=x"}, {"jq", "-c", "a|b"}, {"cd", ".."}}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A wrong flag, a wrong value and a wrong command are noticed without anything being done.
func TestWrongCommandsAreNoticed(t *testing.T) {
	dir := binaries(t)
	for _, args := range []string{"audit orders --nothing", "plan --writes many", "nothing", "ledger nothing", "serve --physics=maybe"} {
		if misunderstood(t, dir, strings.Fields(args)) == "" {
			t.Errorf("heatsink %s is accepted", args)
		}
	}
}
