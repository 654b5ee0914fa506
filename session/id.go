package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/layout"
)

// maxText is how long an id or the name of a user may be, in bytes: half of what DynamoDB takes for a key, which leaves
// room for what is put before it.
const maxText = 1024

// newID returns an id that nobody can guess: 26 letters and digits with 130 bits of randomness.
func newID() string { return rand.Text() }

// handle returns what the session with an id is stored under.
func (o *Options) handle(id string) (string, error) {
	if err := checkText(id); err != nil {
		return "", err
	}
	if !o.PlainIDs {
		sum := sha256.Sum256([]byte(id))
		return base64.RawURLEncoding.EncodeToString(sum[:]), nil
	}
	if err := checkHandle(id); err != nil {
		return "", err
	}
	return id, nil
}

// checkHandle refuses what cannot be a handle: the key of a marker cannot, see epoch, and that of a control item.
func checkHandle(handle string) error {
	for _, prefix := range []string{markerPrefix, layout.ControlPrefix} {
		if strings.HasPrefix(handle, prefix) {
			return fmt.Errorf("it begins with the reserved prefix %q", prefix)
		}
	}
	return checkText(handle)
}

// checkText says what is wrong with an id or the name of a user. NUL is refused because the layout of the index by user
// takes a name that ends in NUL and a number for a shard.
func checkText(text string) error {
	switch {
	case text == "":
		return errors.New("it is empty")
	case len(text) > maxText:
		return fmt.Errorf("it has %d bytes, want at most %d", len(text), maxText)
	case !utf8.ValidString(text):
		return errors.New("it is not valid UTF-8")
	case strings.Contains(text, "\x00"):
		return errors.New("it contains a NUL character")
	}
	return nil
}
