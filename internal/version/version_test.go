package version

import (
	"strings"
	"testing"
)

// Versions grow with time, and two of one time differ.
func TestVersions(t *testing.T) {
	times := []uint64{0, 1, 31, 32, 1 << 40, 1<<40 + 1, 1<<63 + 5, 1<<64 - 1}
	for i, at := range times {
		version := newText(at)
		if got, ok := timeOf(version); !ok || got != at || len(version) != textBytes || version == newText(at) {
			t.Errorf("%d: got %q with time %d, %t", at, version, got, ok)
		}
		if i > 0 && newText(times[i-1]) >= version {
			t.Errorf("the version of %d is not below that of %d", times[i-1], at)
		}
	}
	for _, none := range []string{"", "1", strings.Repeat("Z", textBytes), newText(1) + "x"} {
		if _, ok := timeOf(none); ok {
			t.Errorf("%q is taken for a version", none)
		}
	}
}
