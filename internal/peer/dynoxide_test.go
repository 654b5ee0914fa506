package peer

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// pin makes a release the dynoxide of this platform until the test ends.
func pin(t *testing.T, r release) {
	t.Helper()
	before := dynoxides
	t.Cleanup(func() { dynoxides = before })
	dynoxides = map[string]release{runtime.GOOS + "/" + runtime.GOARCH: r}
}

func TestDynoxideIsFetchedOnce(t *testing.T) {
	tarball := pack(t, file{name: "package/engine", text: script})
	pin(t, released(tarball))
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("npm_config_registry", "")
	t.Setenv("NPM_CONFIG_REGISTRY", "")
	url, requests := serving(t, tarball)
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("registry="+url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(home, "cache")
	if path, err := Installed(dir); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before it was fetched: got %q, %v", path, err)
	}
	first, err := Dynoxide(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Dynoxide(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || *requests != 1 {
		t.Errorf("got %q, then %q, with %d requests; want the same with one", first, second, *requests)
	}
	if path, err := Installed(dir); err != nil || path != first {
		t.Errorf("got %q, %v, want %q", path, err, first)
	}
}

func TestDynoxideElsewhere(t *testing.T) {
	pin(t, release{})
	dynoxides = nil
	dir := t.TempDir()
	if _, err := Dynoxide(t.Context(), dir); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if _, err := Installed(dir); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestDynoxidesAreWellFormed(t *testing.T) {
	for platform, r := range dynoxides {
		hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.integrity, "sha512-"))
		if err != nil || len(hash) != 64 || !strings.HasPrefix(r.integrity, "sha512-") {
			t.Errorf("%s: integrity %q is not a sha512", platform, r.integrity)
		}
		if r.version != DynoxideVersion || r.program == "" || !strings.HasPrefix(r.name, "@dynoxide/") {
			t.Errorf("%s: got %+v", platform, r)
		}
	}
}
