package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only the simulator leaves out rules.
func TestNobodyBreaksTheRules(t *testing.T) {
	const root = "../.."
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(source), `heatsink/internal/ledger"`) || !strings.Contains(string(source), "ledger.Breaks") {
			return nil
		}
		if seen++; filepath.ToSlash(filepath.Dir(path)) != root+"/internal/ledger/sim" {
			t.Errorf("%s names ledger.Breaks, which are for the simulator alone", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("not even the simulator was found: look for another import path")
	}
}
