package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// check builds a platform in this directory and in a copy of it elsewhere. Each build has an empty cache of its own, so that
// neither takes a result from the other. The bytes must be the same.
func check(ctx context.Context, version string, p platform) error {
	scratch, err := os.MkdirTemp("", "heatsink-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	elsewhere := filepath.Join(scratch, "a", "much", "longer", "path")
	if err := copyTracked(ctx, ".", elsewhere); err != nil {
		return err
	}
	var first string
	for i, dir := range []string{".", elsewhere} {
		began := time.Now()
		to := filepath.Join(scratch, fmt.Sprint(i))
		if err := build(ctx, dir, "./cmd/heatsink", version, p, to, "GOCACHE="+filepath.Join(scratch, fmt.Sprint("cache", i))); err != nil {
			return err
		}
		sum, err := sumOf(to)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %s, built in %s\n", sum, p, time.Since(began).Round(time.Second))
		switch {
		case i == 0:
			first = sum
		case sum != first:
			return fmt.Errorf("two builds of %s differ: %s and %s", p, first, sum)
		}
	}
	fmt.Println("both builds have the same bytes")
	return nil
}

// copyTracked copies the files of a checkout that are committed or added.
func copyTracked(ctx context.Context, from, to string) error {
	names, err := tracked(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
