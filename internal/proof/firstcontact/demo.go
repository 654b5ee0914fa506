package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// demo does what the README tells first: it clones the repository and runs the demo, with a home and caches that are empty. What is
// not committed is not cloned.
func demo(ctx context.Context, p *proof) error {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	root := strings.TrimSpace(string(out))
	fresh := newcomer{ctx: ctx, home: filepath.Join(p.work, "home"), clone: filepath.Join(p.work, "clone")}
	if err := os.Mkdir(fresh.home, 0o700); err != nil {
		return err
	}
	cloned, text, err := fresh.do(p.work, "git", "clone", "--quiet", "--no-hardlinks", root, fresh.clone)
	if err != nil {
		return fmt.Errorf("git clone: %w: %s", err, scenario.End(text))
	}
	p.Tell("git clone", seconds(cloned.Seconds()))
	// go run does this first. Here it is a step of its own, so that it can be timed.
	built, text, err := fresh.do(fresh.clone, "go", "build", "-o", filepath.Join(fresh.home, "heatsink"), "./cmd/heatsink")
	if err != nil {
		return fmt.Errorf("go build: %w: %s", err, scenario.End(text))
	}
	p.Tell("fetching the modules and building, with empty caches", seconds(built.Seconds()))
	ran, text, err := fresh.do(fresh.clone, "go", "run", "./cmd/heatsink", "demo")
	p.Must("go run ./cmd/heatsink demo", outcome(err), "exit code 0", err == nil)
	p.Tell("the demo, with linking it", seconds(ran.Seconds()))
	p.Tell("from nothing to the end of the demo", seconds((cloned + built + ran).Seconds()))
	fmt.Fprintf(p.Out, "%s\n", text)
	return nil
}

// outcome is how a command ended.
func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "exit code 0"
}

// newcomer is somebody who has Go and git, and nothing of ours.
type newcomer struct {
	ctx         context.Context
	home, clone string
}

// do runs a command in a directory, and returns how long it took and what it printed.
func (n *newcomer) do(dir, name string, args ...string) (took time.Duration, text string, err error) {
	cmd := exec.CommandContext(n.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = n.environment(os.Environ())
	began := time.Now()
	out, err := cmd.CombinedOutput()
	return time.Since(began), string(out), err
}

// environment keeps how this machine reaches others, and leaves out what Go and git have been told otherwise.
func (n *newcomer) environment(all []string) []string {
	var env []string
	for _, e := range all {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case name == "GOPROXY", name == "GONOSUMDB", name == "GOSUMDB", name == "GONOSUMCHECK", name == "GOTOOLCHAIN":
			env = append(env, e)
		case strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "AWS_"), name == "HOME":
		default:
			env = append(env, e)
		}
	}
	// Go makes its module cache read-only unless it is told not to, and it would stay behind.
	return append(env, "HOME="+n.home, "GOMODCACHE="+filepath.Join(n.home, "mod"), "GOCACHE="+filepath.Join(n.home, "build"), "GOFLAGS=-modcacherw")
}
