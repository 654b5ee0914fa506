// Package lint holds the tests about the repository itself: who may import whom, and which requirement is proved by
// which test.
package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository, seen from this package's directory, where go test runs us.
const root = "../.."

// goFiles lists the repository's Go files, relative to root. It looks at each of them, which is how go test learns that
// a cached result of ours is out of date when one changes.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
