// Package peer runs engines that nobody here wrote: tests use them as a second opinion, benchmarks as a yardstick.
//
//	client := clientFor(peer.Start(t)) // a dynoxide of the test's own
//
// `make deps` fetches what Start needs, so that tests need no network.
package peer

import (
	"errors"
	"os"
	"testing"
)

// Peers is the environment variable that says what a missing peer means: nothing skips the test, "required" fails it.
// `make suite` requires them.
const Peers = "HEATSINK_PEERS"

// Start runs dynoxide for the length of the test and returns its endpoint, "http://127.0.0.1:…". It starts empty, keeps
// everything in memory and accepts any credentials. Do not call it inside a synctest bubble: the process outside does
// not share the bubble's time.
//
// The test is skipped on platforms for which no dynoxide is pinned. Where one is and it is not installed, the test is
// skipped as well, unless Peers requires it.
func Start(t testing.TB) string {
	t.Helper()
	required := os.Getenv(Peers)
	program, err := Installed("")
	switch {
	case required != "" && required != "required":
		t.Fatalf("%s is %q; set it to required, or leave it unset to skip what is not installed", Peers, required)
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip(err)
	case err != nil && required == "":
		t.Skipf("%v; make deps fetches it", err)
	case err != nil:
		t.Fatalf("%v; make deps fetches it", err)
	}
	server, err := Serve(t.Context(), DynoxideArgs(program))
	if err != nil {
		t.Fatalf("dynoxide: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("dynoxide: %v", err)
		}
	})
	return "http://" + server.Addr
}
