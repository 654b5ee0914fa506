package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DynoxideVersion is the version of dynoxide that Dynoxide fetches.
const DynoxideVersion = "1.2.1"

// dynoxides are the published builds, by GOOS/GOARCH. The integrity is the registry's "dist.integrity" of the version.
var dynoxides = map[string]release{
	"linux/amd64": {
		name:      "@dynoxide/linux-x64",
		version:   DynoxideVersion,
		program:   "dynoxide",
		integrity: "sha512-sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg==",
	},
}

// Dynoxide returns the path of the dynoxide program in dir, which it downloads from the npm registry unless it is there.
// An empty dir is the user's cache directory. The error is errors.ErrUnsupported if there is none for this platform.
func Dynoxide(ctx context.Context, dir string) (path string, err error) {
	r, path, err := locateDynoxide(dir)
	if err != nil {
		return "", err
	}
	if err := installed(path); err == nil {
		return path, nil
	}
	from, err := registry()
	if err != nil {
		return "", err
	}
	if err := r.install(ctx, from, path); err != nil {
		return "", fmt.Errorf("install %s %s: %w", r.name, r.version, err)
	}
	return path, nil
}

// Installed is Dynoxide without the download: an error if the program is not there.
func Installed(dir string) (path string, err error) {
	r, path, err := locateDynoxide(dir)
	if err != nil {
		return "", err
	}
	if err := installed(path); err != nil {
		return "", fmt.Errorf("dynoxide %s is not installed: %w", r.version, err)
	}
	return path, nil
}

// DynoxideArgs returns the command line of an empty dynoxide in memory, as Serve wants it.
func DynoxideArgs(program string) func(port string) []string {
	return func(port string) []string {
		return []string{program, "serve", "--host", loopback, "--port", port}
	}
}

// locateDynoxide says which build this platform needs and where in dir it belongs.
func locateDynoxide(dir string) (r release, path string, err error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	r, ok := dynoxides[platform]
	if !ok {
		return r, "", fmt.Errorf("dynoxide on %s: %w: no build is pinned", platform, errors.ErrUnsupported)
	}
	if dir == "" {
		if dir, err = cacheDir(); err != nil {
			return r, "", err
		}
	}
	return r, filepath.Join(dir, fmt.Sprintf("dynoxide-%s-%s-%s", r.version, runtime.GOOS, runtime.GOARCH)), nil
}

// installed reports what is wrong with the program at path, if anything. Programs appear there whole or not at all.
func installed(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	return err
}
