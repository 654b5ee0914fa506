package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is a block that is a whole program, with the name of its binary.
type program struct {
	block
	name string
}

// programs returns the programs of pages. Those of the mark "file: NAME" have a name that is unique on their page; commands of the page run them.
func programs(all []page) []program {
	var found []program
	for _, p := range all {
		for _, b := range p.blocks {
			if b.lang != "go" || !strings.HasPrefix(b.text, "package main\n") {
				continue
			}
			found = append(found, program{b, binary(b)})
		}
	}
	return found
}

// binary returns the name of a program's binary: that of its page, and its own or its line.
func binary(b block) string {
	name, ok := strings.CutPrefix(b.mark, "file: ")
	if !ok {
		name = fmt.Sprint(b.line)
	}
	return strings.NewReplacer("/", "-", ".md", "").Replace(b.page) + "-" + name
}

// bin is the directory of the binaries, once they are built: heatsink, and the programs of all pages.
var bin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "heatsink-docs-")
	if err != nil {
		return "", err
	}
	built = dir
	return dir, build(dir)
})

// built is what TestMain removes.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// build builds the command and all programs at once. The programs are seen by the compiler as packages of this module, but are no
// files of it.
func build(dir string) error {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if err := lookAtSource(); err != nil {
		return err
	}
	all, err := readPages()
	if err != nil {
		return err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	args := []string{"build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir + "/", "./cmd/heatsink"}
	for _, p := range programs(all) {
		file := filepath.Join(dir, p.name+".go")
		if err := os.WriteFile(file, []byte(p.text), 0o600); err != nil {
			return err
		}
		overlay.Replace[filepath.Join(absolute, "internal", "docs", p.name, "main.go")] = file
		args = append(args, "./internal/docs/"+p.name)
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		return err
	}
	run := exec.CommandContext(context.Background(), "go", args...)
	run.Dir = absolute
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of the programs of the documentation: %w\n%s", err, out)
	}
	return nil
}

// lookAtSource looks at each Go file of the repository. That is how go test learns that a cached result of ours is out of date when one changes.
func lookAtSource() error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}

// binaries builds once, and returns the directory.
func binaries(t *testing.T) string {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
