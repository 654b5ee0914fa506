package lint

import (
	"os/exec"
	"strings"
	"testing"
)

// A template looks methods up by name, so the linker keeps every exported method of a program that has one: all operations of the
// AWS SDK, a fifth of the binary, and 8 MB of an idle server.
func TestNoTemplates(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, path := range fields[1:] {
			if path == "text/template" || path == "html/template" {
				t.Errorf("%s imports %s: write the text without it", fields[0], path)
			}
		}
	}
}
