package peer

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const defaultRegistry = "https://registry.npmjs.org"

// registry returns the npm registry that this machine is set up for, found where npm finds it: in the environment, else
// in the user's .npmrc.
func registry() (string, error) {
	if url := cmp.Or(os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY")); url != "" {
		return url, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return defaultRegistry, nil // a cache directory can be had without a home
	}
	text, err := os.ReadFile(filepath.Join(home, ".npmrc"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return cmp.Or(registryLine(string(text)), defaultRegistry), nil
}

// registryLine returns the registry that an .npmrc names, or nothing. Of several, the last one counts.
func registryLine(npmrc string) (url string) {
	for line := range strings.Lines(npmrc) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "registry" {
			url = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return url
}
