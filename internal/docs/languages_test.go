package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests in Python and JavaScript are programs. The Python one runs, and fails unless a hot key is throttled. make deps installs what that takes;
// plain go test skips it where boto3 is missing.
func TestOtherLanguages(t *testing.T) {
	dir := binaries(t)
	checked := 0
	for _, b := range pageOf(t, "docs/local.md").blocks {
		name, ok := strings.CutPrefix(b.mark, "file: ")
		if !ok {
			continue
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		checked++
		switch b.lang {
		case "js":
			needs(t, "node", "--version")
			if out, err := exec.CommandContext(t.Context(), "node", "--check", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", b, err, out)
			}
		case "python":
			needs(t, "python3", "-c", "import boto3")
			run := exec.CommandContext(t.Context(), "python3", file)
			run.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nOK") {
				t.Errorf("%s: %v\n%s", b, err, out)
			}
		default:
			t.Errorf("%s: nobody knows how to check %s", b, b.lang)
		}
	}
	if checked != 2 {
		t.Errorf("%d programs were found, want 2", checked)
	}
}

// needs skips a test where a program cannot be run. In make test, which installs it, the test fails instead.
func needs(t *testing.T, program string, args ...string) {
	t.Helper()
	_, err := exec.LookPath(program)
	if err == nil && len(args) > 0 {
		err = exec.CommandContext(t.Context(), program, args...).Run()
	}
	switch {
	case err == nil:
	case os.Getenv("HEATSINK_PEERS") != "":
		t.Fatalf("%s cannot be run: %v", program, err)
	default:
		t.Skipf("%s cannot be run, make deps installs it: %v", program, err)
	}
}
