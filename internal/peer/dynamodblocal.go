package peer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// DynamoDBLocalVersion is the version of AWS's own emulator that DynamoDBLocal fetches.
const DynamoDBLocalVersion = "3.1.0"

// dynamoDBLocalSums has the files of that version and of all that it needs, as Maven resolves them: a SHA-256 and the
// path in a Maven repository, a line each. Libraries of other platforms and of its tests are left out.
//
//go:embed dynamodblocal.sums
var dynamoDBLocalSums string

// A jar is a file of a Maven repository.
type jar struct {
	sum  string // SHA-256, in hex
	path string
}

// DynamoDBLocal makes DynamoDB Local ready to be started. Its files are downloaded from a Maven repository into dir,
// unless they are there. An empty dir is the user's cache directory. The error wraps errors.ErrUnsupported where there
// is no JVM, or no SQLite library for this platform.
func DynamoDBLocal(ctx context.Context, dir string) (Engine, error) {
	if platform := runtime.GOOS + "/" + runtime.GOARCH; platform != "linux/amd64" {
		return Engine{}, fmt.Errorf("DynamoDB Local on %s: %w: no SQLite library is pinned", platform, errors.ErrUnsupported)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return Engine{}, fmt.Errorf("DynamoDB Local: %w: it needs a JVM: %w", errors.ErrUnsupported, err)
	}
	if dir == "" {
		if dir, err = cacheDir(); err != nil {
			return Engine{}, err
		}
	}
	dir = filepath.Join(dir, "dynamodb-local-"+DynamoDBLocalVersion)
	if err := fetchJars(ctx, readSums(dynamoDBLocalSums), dir); err != nil {
		return Engine{}, fmt.Errorf("install DynamoDB Local %s: %w", DynamoDBLocalVersion, err)
	}
	return Engine{Name: "dynamodb-local", Version: DynamoDBLocalVersion, Argv: func(port string) []string {
		return []string{
			java, "-Djava.library.path=" + dir, "-cp", filepath.Join(dir, "*"),
			"software.amazon.dynamodb.services.local.main.ServerRunner",
			"-inMemory", "-disableTelemetry", "-port", port,
		}
	}}, nil
}

func readSums(text string) (jars []jar) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		sum, path, _ := strings.Cut(lines.Text(), " ")
		jars = append(jars, jar{sum: sum, path: path})
	}
	return jars
}

// fetchJars downloads those files that dir has not got. A file appears there whole or not at all.
func fetchJars(ctx context.Context, jars []jar, dir string) error {
	var from string
	for _, j := range jars {
		target := filepath.Join(dir, path.Base(j.path))
		if installed(target) == nil {
			continue
		}
		if from == "" {
			var err error
			if from, err = mavenRepository(); err != nil {
				return err
			}
		}
		if err := j.install(ctx, from, target); err != nil {
			return err
		}
	}
	return nil
}

func (j jar) install(ctx context.Context, repository, target string) error {
	url := strings.TrimRight(repository, "/") + "/" + j.path
	body, err := download(ctx, url)
	if err != nil {
		return err
	}
	if got := sha256.Sum256(body); hex.EncodeToString(got[:]) != j.sum {
		return fmt.Errorf("%s: the SHA-256 is %x, want %s", url, got, j.sum)
	}
	return writeProgram(target, bytes.NewReader(body))
}

// cacheDir is where peers are kept unless somebody says otherwise.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "heatsink"), err
}
