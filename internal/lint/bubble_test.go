package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tests enter a bubble through internal/bubble: with the race detector, synctest.Test ends the process now and then. The
// modules beside this one are tested without the detector, and the examples show what their readers would write.
func TestBubbles(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{range .TestGoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$.Dir}}/{{.}}
{{end}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files, examples := strings.Fields(string(out)), string(filepath.Separator)+"examples"+string(filepath.Separator)
	if len(files) == 0 {
		t.Fatal("no test files")
	}
	call := []byte("synctest." + "Test(t")
	for _, file := range files {
		if strings.Contains(file, examples) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, call) {
			t.Errorf("%s calls synctest.Test: call bubble.Test of internal/bubble", file)
		}
	}
}
