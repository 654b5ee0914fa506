// Package peer runs engines that nobody here wrote: tests use them as a second opinion, benchmarks as a yardstick.
//
//	client := clientFor(peer.Start(t)) // a dynoxide of the test's own
//
// `make deps` fetches what Start needs, so that tests need no network.
package peer

import (
	"errors"
	"testing"
)

// Start runs dynoxide for the length of the test and returns its endpoint, "http://127.0.0.1:…". It starts empty, keeps
// everything in memory and accepts any credentials. Do not call it inside a synctest bubble: the process outside does
// not share the bubble's time.
//
// The test is skipped on platforms for which no dynoxide is pinned. Where one is, its absence is a failure.
func Start(t testing.TB) string {
	t.Helper()
	program, err := Installed("")
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip(err)
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
