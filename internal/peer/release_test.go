package peer

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const script = "#!/bin/sh\necho engine\n"

// A file is an entry of a tarball.
type file struct {
	name, text string
	kind       byte  // a plain file if zero
	size       int64 // what the header claims, if not what text has
}

// pack makes a tarball as `npm pack` does.
func pack(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Typeflag: cmp.Or(f.kind, tar.TypeReg), Mode: 0o644, Size: int64(len(f.text))}
		if f.kind == tar.TypeSymlink {
			header.Linkname, header.Size, f.text = f.text, 0, ""
		}
		if f.size > 0 {
			header.Size = f.size
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush() // what Close would add, its complaint about a false size included, is not missed
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// released is the release whose tarball has these bytes.
func released(tarball []byte) release {
	hash := sha512.Sum512(tarball)
	return release{
		name: "@scope/linux-x64", version: "1.2.3", program: "engine",
		integrity: "sha512-" + base64.StdEncoding.EncodeToString(hash[:]),
	}
}

// serving is a registry that has one tarball, and counts how often it is asked for it.
func serving(t *testing.T, tarball []byte) (url string, requests *int) {
	t.Helper()
	requests = new(int)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /npm/@scope/linux-x64/-/linux-x64-1.2.3.tgz", func(w http.ResponseWriter, _ *http.Request) {
		*requests++
		w.Write(tarball)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/npm", requests
}

func TestInstall(t *testing.T) {
	tarball := pack(t, file{name: "package/package.json", text: "{}"}, file{name: "package/engine", text: script})
	url, _ := serving(t, tarball)
	for _, registry := range []string{url, url + "/"} {
		target := filepath.Join(t.TempDir(), "cache", "heatsink", "engine-1.2.3")
		if err := released(tarball).install(t.Context(), registry, target); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != script {
			t.Errorf("got the program %q, want %q", text, script)
		}
		info, err := os.Stat(target)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o755 {
			t.Errorf("got mode %v, want an executable's", info.Mode())
		}
		if got, want := left(t, filepath.Dir(target)), []string{"engine-1.2.3"}; !slices.Equal(got, want) {
			t.Errorf("got %q in the directory, want %q", got, want)
		}
	}
}

// Whatever is wrong with a tarball, nothing stays behind.
func TestInstallRefuses(t *testing.T) {
	good := pack(t, file{name: "package/engine", text: script})
	engine := file{name: "package/engine", text: script}
	long := pack(t, file{name: "package/engine", text: strings.Repeat(script, 1000)})
	evil := func(f file) []byte { return pack(t, f, engine) }
	for _, c := range []struct {
		name    string
		tarball []byte
		release release
		want    string
	}{
		{"another hash", good, released(evil(engine)), "integrity is sha512-"},
		{"no hash", good, release{name: "@scope/linux-x64", version: "1.2.3", program: "engine"}, "integrity is sha512-"},
		{"another version", good, release{name: "@scope/linux-x64", version: "1.2.4"}, "404 Not Found"},
		{"cut off", good[:len(good)/2], released(good), "integrity is sha512-"},
		{"published cut off", long[:len(long)-20], released(long[:len(long)-20]), "unexpected EOF"},
		{"too much", make([]byte, maxTarball+1), release{name: "@scope/linux-x64", version: "1.2.3"}, "more than 16777216 bytes"},
		{"not a tarball", []byte("<html></html>"), released([]byte("<html></html>")), "gzip"},
		{"no program", pack(t, file{name: "package/other", text: script}), release{}, "no package/engine in it"},
		{"upwards", evil(file{name: "package/../../engine", text: "evil"}), release{}, `unsafe name "package/../../engine"`},
		{"absolute", evil(file{name: "/etc/engine", text: "evil"}), release{}, `unsafe name "/etc/engine"`},
		{"a link", pack(t, file{name: "package/engine", text: "/bin/sh", kind: tar.TypeSymlink}), release{}, "not a plain file"},
		{"a huge program", pack(t, file{name: "package/engine", size: maxProgram + 1}), release{}, "67108865 bytes, more than"},
		{"a false size", pack(t, file{name: "package/engine", text: script, size: 1 << 20}), release{}, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.release == (release{}) {
				c.release = released(c.tarball)
			}
			registry, _ := serving(t, c.tarball)
			dir := t.TempDir()
			err := c.release.install(t.Context(), registry, filepath.Join(dir, "engine"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if got := left(t, dir); len(got) > 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

func TestInstallFromBrokenRegistry(t *testing.T) {
	good := pack(t, file{name: "package/engine", text: script})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(good) // and the connection is cut, since that was not all
	}))
	defer server.Close()
	dir := t.TempDir()
	err := released(good).install(t.Context(), server.URL, filepath.Join(dir, "engine"))
	if err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("got %v, want unexpected EOF", err)
	}
	if got := left(t, dir); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}

// left lists the files in a directory, hidden ones included.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
