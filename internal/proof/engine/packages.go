package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// shelf is a directory of packages that the ordinary client of their registry fetches, once.
type shelf struct {
	name     string
	programs []string // without which nothing can be fetched or run
	packages []string // with their versions
	fetch    func(p *proof, packages []string) [][]string

	failed error // why they cannot be fetched, so that it is tried once for all that need them
}

// dir is where the packages are: beside the peers, so that a second run finds them.
func (s *shelf) dir(p *proof) string {
	dir, err := filepath.Abs(filepath.Join(p.peers, "programs", s.name))
	if err != nil {
		return filepath.Join(p.work, s.name) // of a process whose own directory is gone
	}
	return dir
}

// fill makes sure that the packages are there.
func (s *shelf) fill(ctx context.Context, p *proof) error {
	if s.failed == nil {
		s.failed = s.fetchMissing(ctx, p)
	}
	return s.failed
}

// fetchMissing fetches the packages, unless they are there. A list of them is written last, so that what was interrupted begins anew.
func (s *shelf) fetchMissing(ctx context.Context, p *proof) error {
	for _, program := range s.programs {
		if program == python {
			program = p.python
		}
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	dir := s.dir(p)
	list, want := filepath.Join(dir, "fetched.txt"), strings.Join(s.packages, "\n")
	if has, err := os.ReadFile(list); err == nil && string(has) == want {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, argv := range s.fetch(p, s.packages) {
		scenario.Progress("  %s: %s", s.name, strings.Join(argv, " "))
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, scenario.End(string(out)))
		}
	}
	return os.WriteFile(list, []byte(want), 0o644)
}

// python stands for the program that the user calls so.
const python = "python3"

// published is the day of the packages that ours need, so that each run has the same ones.
const published = "2026-11-20"

func npm(_ *proof, packages []string) [][]string {
	return [][]string{append([]string{"npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--before", published}, packages...)}
}

func pip(p *proof, packages []string) [][]string {
	return [][]string{
		{p.python, "-m", "venv", "."},
		append([]string{filepath.Join("bin", "python"), "-m", "pip", "install", "--disable-pip-version-check"}, packages...),
	}
}

func goGet(_ *proof, packages []string) [][]string {
	return [][]string{{"go", "mod", "init", "programs"}, append([]string{"go", "get", "-t"}, packages...)}
}
