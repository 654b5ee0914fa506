// Command dist makes what a release consists of, and tries it. `make dist`, `make dist-check` and `make install-check` run it.
//
//	dist build      builds binaries of heatsink for the usual platforms, with their checksums
//	dist check      builds one platform twice, in two directories and with empty caches, and compares the bytes
//	dist install    installs heatsink from a file proxy that is made of this checkout, as go install … does from a public one
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := flags.String("out", "dist", "directory for the binaries of build")
	version := flags.String("version", "", "version (default: git's tag, or the commit behind the last one)")
	only := flags.String("only", "", "platforms, such as linux/amd64,darwin/arm64 (default: all)")
	if len(args) == 0 {
		return fmt.Errorf("want build, check or install: see go doc ./internal/dist")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *version == "" {
		if *version, err = describe(ctx, "."); err != nil {
			return err
		}
	}
	switch args[0] {
	case "build":
		return release(ctx, *out, *version, chosen)
	case "check":
		return check(ctx, *version, chosen[0])
	case "install":
		return install(ctx)
	}
	return fmt.Errorf("%q: want build, check or install", args[0])
}

// describe returns the version of a checkout: its tag, or the last tag with the commits since and the commit, or the commit alone.
func describe(ctx context.Context, dir string) (string, error) {
	text, err := output(ctx, dir, nil, "git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return "", fmt.Errorf("%w: give -version outside of a checkout", err)
	}
	return text, nil
}

// output runs a command in a directory and returns what it prints. env is added to the environment.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(text)), nil
}
