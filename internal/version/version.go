package version

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

const (
	textBytes = 26
	gone      = "!deleted" // ends the version of a tombstone
)

var encoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// newText returns a new version for a time.
func newText(at uint64) string {
	text := make([]byte, 0, textBytes)
	for _, number := range [...]uint64{at, rand.Uint64()} {
		text = encoding.AppendEncode(text, binary.BigEndian.AppendUint64(nil, number))
	}
	return string(text)
}

// timeOf returns the time in a version. It returns false if the text is not a version.
func timeOf(version string) (at uint64, ok bool) {
	version = strings.TrimSuffix(version, gone)
	if len(version) != textBytes {
		return 0, false
	}
	bytes, err := encoding.DecodeString(version[:textBytes/2])
	if err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint64(bytes), true
}
