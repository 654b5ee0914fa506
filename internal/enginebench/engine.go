package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

// An engine is a server program that can be started on a port.
type engine struct {
	name    string
	version string
	argv    func(port string) []string
}

// engineNames in the order of the report. The first is what the others are compared with.
var engineNames = []string{"heatsink", "dynoxide", "dynalite", "empty"}

// findEngine makes the named engine ready to be started: built into dir, downloaded, or looked up among the npm packages
// in peers.
func findEngine(ctx context.Context, name, peers, dir string) (engine, error) {
	switch name {
	case "heatsink":
		return buildHeatsink(ctx, dir)
	case "dynoxide":
		program, err := peer.Dynoxide(ctx, "")
		return engine{name: name, version: peer.DynoxideVersion, argv: peer.DynoxideArgs(program)}, err
	case "dynalite":
		return findDynalite(peers)
	case "empty":
		self, err := os.Executable()
		return engine{
			name: name,
			argv: func(port string) []string { return []string{self, emptyCommand, "127.0.0.1:" + port} },
		}, err
	}
	panic("no such engine: " + name)
}

func buildHeatsink(ctx context.Context, dir string) (engine, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	program := filepath.Join(dir, "heatsink")
	const source = "github.com/heatsink-go/heatsink/cmd/heatsink"
	build, err := exec.CommandContext(ctx, "go", "build", "-o", program, source).CombinedOutput()
	if err != nil {
		return engine{}, fmt.Errorf("does not build (%w): %s", err, strings.TrimSpace(string(build)))
	}
	return engine{
		name: "heatsink",
		argv: func(port string) []string { return []string{program, "serve", "--addr", "127.0.0.1:" + port} },
	}, nil
}

func findDynalite(peers string) (engine, error) {
	modules := filepath.Join(peers, "node_modules")
	program := filepath.Join(modules, ".bin", "dynalite")
	if _, err := os.Stat(program); err != nil {
		return engine{}, fmt.Errorf("not installed (%w); try: npm install --prefix %s dynalite", err, peers)
	}
	return engine{
		name:    "dynalite",
		version: packageVersion(filepath.Join(modules, "dynalite", "package.json")),
		argv:    func(port string) []string { return []string{program, "--host", "127.0.0.1", "--port", port} },
	}, nil
}

// packageVersion is the version in a package.json, or nothing: the figures are worth having without it.
func packageVersion(file string) string {
	var manifest struct{ Version string }
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
