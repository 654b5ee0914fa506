package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An Engine is a server program that Serve can start on a port.
type Engine struct {
	Name    string
	Version string // nothing if it is of no interest
	Argv    func(port string) []string
}

// Heatsink builds this module's own command into dir, to be run as its peers are. flags are those of heatsink serve.
func Heatsink(ctx context.Context, dir string, flags ...string) (Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	program := filepath.Join(dir, "heatsink")
	const source = "github.com/heatsink-go/heatsink/cmd/heatsink"
	build, err := exec.CommandContext(ctx, "go", "build", "-o", program, source).CombinedOutput()
	if err != nil {
		return Engine{}, fmt.Errorf("heatsink does not build (%w): %s", err, strings.TrimSpace(string(build)))
	}
	return Engine{Name: "heatsink", Argv: func(port string) []string {
		return append([]string{program, "serve", "--addr", loopback + ":" + port}, flags...)
	}}, nil
}

// DynoxideEngine is Dynoxide, ready to be started.
func DynoxideEngine(ctx context.Context, dir string) (Engine, error) {
	program, err := Dynoxide(ctx, dir)
	return Engine{Name: "dynoxide", Version: DynoxideVersion, Argv: DynoxideArgs(program)}, err
}

// Dynalite finds the npm package dynalite in a directory, where `make` installs it.
func Dynalite(dir string) (Engine, error) {
	modules := filepath.Join(dir, "node_modules")
	program := filepath.Join(modules, ".bin", "dynalite")
	if _, err := os.Stat(program); err != nil {
		return Engine{}, fmt.Errorf("dynalite is not installed (%w); try: npm install --prefix %s dynalite@4", err, dir)
	}
	return Engine{
		Name:    "dynalite",
		Version: packageVersion(filepath.Join(modules, "dynalite", "package.json")),
		Argv:    func(port string) []string { return []string{program, "--host", loopback, "--port", port} },
	}, nil
}

// packageVersion is the version in a package.json, or nothing: figures are worth having without it.
func packageVersion(file string) string {
	var manifest struct{ Version string }
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
