package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// choose returns the platforms of a list, all if it is empty.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only %q: want some of %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// binary returns the name of a platform's binary.
func binary(version string, p platform) string {
	name := fmt.Sprintf("heatsink_%s_%s_%s", version, p.os, p.arch)
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

// environment is that of all builds: what the machine's own settings would change is fixed.
func environment(p platform) []string {
	return []string{
		"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off",
	}
}

// build builds the package pkg of the module in dir. The result depends on the source, the version and Go's version only: it has no
// path, no build id and no state of the checkout in it.
func build(ctx context.Context, dir, pkg, version string, p platform, to string, env ...string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	_, err = output(ctx, dir, append(environment(p), env...), "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X main.released="+version, "-o", to, pkg)
	return err
}

// release builds all platforms into a directory, with a file of checksums. It replaces what an earlier release left there.
func release(ctx context.Context, out, version string, chosen []platform) error {
	if err := clearOut(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var names []string
	for _, p := range chosen {
		name := binary(version, p)
		if err := build(ctx, ".", "./cmd/heatsink", version, p, filepath.Join(out, name)); err != nil {
			return err
		}
		names = append(names, name)
		fmt.Println(filepath.Join(out, name))
	}
	return sums(out, names)
}

// clearOut removes the files of an earlier release from a directory. Whatever else is there stays: the directory may be anybody's.
func clearOut(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), "heatsink_") && e.Name() != sumsFile {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

const sumsFile = "SHA256SUMS"

// sums writes SHA256SUMS, as sha256sum --check reads it.
func sums(dir string, names []string) error {
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		sum, err := sumOf(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(text.String()), 0o644)
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
