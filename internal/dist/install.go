package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// tried is the version that the file proxy has. It is no one's tag.
const tried = "v0.0.1-check"

// install installs heatsink through a file proxy that has this checkout, with an empty module cache and in an empty directory, and runs
// it. Dependencies come from the module cache of this machine if it has them, else from the proxy that Go is configured with.
func install(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "heatsink-install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	proxy := filepath.Join(scratch, "proxy")
	if err := publish(ctx, ".", proxy, tried); err != nil {
		return err
	}
	configured, err := output(ctx, ".", nil, "go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	cache, err := output(ctx, ".", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	bin, empty := filepath.Join(scratch, "bin"), filepath.Join(scratch, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return err
	}
	env := []string{
		"GOPROXY=" + strings.Join([]string{fileURL(proxy), fileURL(filepath.Join(cache, "cache", "download")), configured}, ","),
		"GONOSUMDB=" + module, "GOMODCACHE=" + filepath.Join(scratch, "cache"), "GOBIN=" + bin, "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GOPRIVATE=", "GONOPROXY=none",
	}
	began := time.Now()
	if _, err := output(ctx, empty, env, "go", "install", module+"/cmd/heatsink@"+tried); err != nil {
		return err
	}
	name := "heatsink"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	text, err := output(ctx, empty, nil, filepath.Join(bin, name), "--version")
	if err != nil {
		return err
	}
	if want := "heatsink version " + tried; text != want {
		return fmt.Errorf("the installed command says %q, want %q", text, want)
	}
	fmt.Printf("go install %s/cmd/heatsink@%s works, in %s: %s\n", module, tried, time.Since(began).Round(time.Second), text)
	return nil
}

// fileURL returns the URL of a directory.
func fileURL(dir string) string {
	slashed := filepath.ToSlash(dir)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive's letter
	}
	return "file://" + slashed
}
