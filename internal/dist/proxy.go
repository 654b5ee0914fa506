package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const module = "github.com/heatsink-go/heatsink"

// tracked returns the files of a checkout that are committed or added, with slashes, as they are in the work tree. A file that nobody has
// added is no part of a release.
func tracked(ctx context.Context, dir string) ([]string, error) {
	text, err := output(ctx, dir, nil, "git", "ls-files", "-z", "--cached", "--deduplicate")
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(text, "\x00") {
		info, err := os.Lstat(filepath.Join(dir, name))
		if name == "" || os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
			continue // deleted, or a link, which a module cannot have
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// published leaves out what the module does not have: files of modules that are nested in it.
func published(names []string) []string {
	var nested []string
	for _, name := range names {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			nested = append(nested, path.Dir(name)+"/")
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) })
	})
}

// publish makes a module proxy in a directory that has one version of the checkout.
func publish(ctx context.Context, checkout, proxy, version string) error {
	all, err := tracked(ctx, checkout)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return pack(checkout, published(all), fmt.Sprintf("%s@%s/", module, version), filepath.Join(dir, version+".zip"))
}

// pack writes files into a zip, each with a prefix before its name.
func pack(dir string, names []string, prefix, to string) (err error) {
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	archive := zip.NewWriter(file)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		entry, err := archive.Create(prefix + name)
		if err != nil {
			return err
		}
		if _, err := entry.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}
