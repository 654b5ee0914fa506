package peer

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDynamoDBLocalSumsAreWellFormed(t *testing.T) {
	line := regexp.MustCompile(`^[0-9a-f]{64} [\w.-]+(/[\w.-]+)+\.(jar|so)$`)
	var local, native int
	names := map[string]bool{}
	for _, j := range readSums(dynamoDBLocalSums) {
		if !line.MatchString(j.sum + " " + j.path) {
			t.Errorf("got %+v", j)
		}
		base := filepath.Base(j.path)
		if names[base] {
			t.Errorf("%s twice", base)
		}
		names[base] = true
		if base == "DynamoDBLocal-"+DynamoDBLocalVersion+".jar" {
			local++
		}
		if strings.HasPrefix(base, "libsqlite4java-linux-amd64") {
			native++
		}
	}
	if local != 1 || native != 1 {
		t.Errorf("got %d of the emulator and %d of SQLite, want one of each", local, native)
	}
}

func TestJarsAreFetchedOnce(t *testing.T) {
	requests := 0
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Write([]byte("jar of " + r.URL.Path))
	}))
	defer repository.Close()
	t.Setenv(mavenVariable, repository.URL+"/maven2/")
	of := func(path string) jar {
		sum := sha256.Sum256([]byte("jar of /maven2/" + path))
		return jar{sum: hex.EncodeToString(sum[:]), path: path}
	}
	dir := filepath.Join(t.TempDir(), "jars")
	jars := []jar{of("a/b/1/b-1.jar"), of("c/d/1/d-1.so")}
	for range 2 {
		if err := fetchJars(t.Context(), jars, dir); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "d-1.so")); err != nil || string(text) != "jar of /maven2/c/d/1/d-1.so" {
		t.Errorf("got %q, %v", text, err)
	}
	if requests != 2 {
		t.Errorf("got %d requests, want one for each file", requests)
	}

	other := jar{sum: jars[0].sum, path: "e/f/1/f-1.jar"}
	if err := fetchJars(t.Context(), []jar{other}, dir); err == nil || !strings.Contains(err.Error(), "the SHA-256 is") {
		t.Errorf("got %v, want that the sum is another", err)
	}
	if got := left(t, dir); len(got) != 2 {
		t.Errorf("got %q in the directory, want two files", got)
	}
}
