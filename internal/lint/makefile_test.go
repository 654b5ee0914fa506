package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without dynoxide, go test skips the tests that run on it. The suite must not: they would be left out unseen.
func TestSuiteRequiresPeers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, suite, found := strings.Cut(string(text), "\nsuite: ")
	suite, _, _ = strings.Cut(suite, "\n\n")
	if !found || !strings.Contains(suite, "HEATSINK_PEERS=required go test -race") {
		t.Errorf("the target suite does not set HEATSINK_PEERS=required for its tests:\n%s", suite)
	}
}
