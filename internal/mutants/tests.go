package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	buildTime = 10 * time.Minute // a build that takes longer hangs
	linger    = 30 * time.Second // how long a process outside the group may keep the output of a dead one open
	memory    = 6 << 30          // bytes of addresses of one test process
	kept      = 256 << 10        // bytes of output that are kept of a process
)

// tests are a package and its tests.
type tests struct {
	dir   string   // absolute
	path  string   // the import path
	name  string   // of the package
	files []string // absolute, without the tests
	deps  []string // the import paths of all that the tests are built from
	rapid bool     // the tests take the flags of pgregory.net/rapid
}

// loadTests asks the go command about a package, seen from dir.
func loadTests(ctx context.Context, dir, pattern string) (*tests, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	listed, err := command(ctx, dir, nil, "go", "list", "-json=Dir,ImportPath,Name,GoFiles,TestGoFiles,XTestGoFiles", pattern)
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", pattern, err, listed)
	}
	var pkg struct {
		Dir, ImportPath, Name              string
		GoFiles, TestGoFiles, XTestGoFiles []string
	}
	decoder := json.NewDecoder(strings.NewReader(listed))
	if err := decoder.Decode(&pkg); err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("package %s: it matches several packages, and only one can be broken at a time", pattern)
	}
	if len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0 {
		return nil, fmt.Errorf("package %s: it has no tests, so every break would survive", pattern)
	}
	p := &tests{dir: pkg.Dir, path: pkg.ImportPath, name: pkg.Name}
	for _, name := range pkg.GoFiles {
		p.files = append(p.files, filepath.Join(pkg.Dir, name))
	}
	deps, err := command(ctx, dir, nil, "go", "list", "-deps", "-test", "-f", "{{.ImportPath}}", pattern)
	if err != nil {
		return nil, fmt.Errorf("go list -deps %s: %w\n%s", pattern, err, deps)
	}
	for line := range strings.Lines(deps) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ") // "path [path.test]" is the package with its tests
		p.deps = append(p.deps, path)
	}
	p.rapid = slices.Contains(p.deps, "pgregory.net/rapid")
	return p, nil
}

// errCompile is wrapped when a break does not compile.
var errCompile = errors.New("it does not compile")

// build compiles the tests with the files that an overlay names. An empty overlay breaks nothing. Line tables are left out; a
// stack trace needs none of them. All that does not compile is in the error, not only the first of it.
func (p *tests) build(ctx context.Context, overlay, binary string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	out, err := command(ctx, p.dir, nil, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-gcflags=-e",
		"-ldflags=-s -w -buildid=", "-o", binary, ".")
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return fmt.Errorf("%w: %s", errCompile, strings.TrimSpace(out))
	}
	return err
}

// assembly returns a hash of what the compiler makes of the package: equal hashes are equal programs.
func (p *tests) assembly(ctx context.Context, overlay string) (sum [sha256.Size]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	out, err := command(ctx, p.dir, nil, "go", "build", "-overlay", overlay, "-gcflags=-S", "-o", os.DevNull, ".")
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return sum, ctx.Err()
	case errors.As(err, &exit):
		return sum, fmt.Errorf("assembly of %s: %w", p.path, errCompile)
	case err != nil:
		return sum, err
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines) // functions are compiled side by side
	return sha256.Sum256([]byte(strings.Join(lines, "\n"))), nil
}

// An outcome is what became of the tests.
type outcome struct {
	passed  bool
	timeout bool // they were stopped after the limit
	took    time.Duration
	output  string // the end of it
}

// run runs the tests of a binary for at most limit. Go commands that the tests start see the break as well. The error is
// the caller's context's, or says that the binary could not be started.
func (p *tests) run(ctx context.Context, overlay, binary, pattern string, limit time.Duration, env ...string) (outcome, error) {
	scratch, err := os.MkdirTemp(filepath.Dir(binary), "scratch-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(scratch)
	argv := []string{binary, "-test.failfast", "-test.timeout=0"}
	if pattern != "" {
		argv = append(argv, "-test.run="+pattern)
	}
	if p.rapid { // a failure is enough: it is neither shrunk nor written into the repository
		argv = append(argv, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	env = append(env, "TMPDIR="+scratch, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" '-overlay="+overlay+"'"))
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begin := time.Now()
	out, err := command(limited, p.dir, env, bounded(memory, argv)...)
	o := outcome{passed: err == nil, took: time.Since(begin), output: out}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	o.timeout = err != nil && limited.Err() != nil
	var exit *exec.ExitError
	if err != nil && !o.timeout && !errors.As(err, &exit) {
		return o, err
	}
	return o, nil
}

// command runs a program until it ends or ctx does, and returns the end of what it printed. Nothing that it started in
// its process group outlives it.
func command(ctx context.Context, dir string, env []string, argv ...string) (output string, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	limit := kept
	if argv[0] == "go" {
		limit = 256 << 20 // go list and assembly are read as a whole
	}
	var out tail
	out.limit = limit
	cmd.Stdout, cmd.Stderr = &out, &out
	ownGroup(cmd)
	cmd.WaitDelay = linger
	if err := cmd.Start(); err != nil {
		return "", err
	}
	err = cmd.Wait()
	_ = killGroup(cmd) // fails when nothing is left of it
	return out.text.String(), err
}

// A tail keeps the end of what is written to it.
type tail struct {
	text  bytes.Buffer
	limit int
}

func (t *tail) Write(b []byte) (int, error) {
	t.text.Write(b)
	if over := t.text.Len() - t.limit; over > 0 {
		t.text.Next(over)
	}
	return len(b), nil
}

// overlay writes a broken file and the description that tells the go command to read it instead of the file.
func overlay(dir, file string, broken []byte) (path string, err error) {
	text := filepath.Join(dir, "broken.go")
	if err := os.WriteFile(text, broken, 0o600); err != nil {
		return "", err
	}
	return writeOverlay(dir, map[string]string{file: text})
}

func writeOverlay(dir string, replace map[string]string) (path string, err error) {
	description, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, description, 0o600)
}
