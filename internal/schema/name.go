package schema

import (
	"fmt"
	"unicode/utf8"
)

// maxNameBytes is how long the name of a key attribute may be. No other is sensibly longer.
const maxNameBytes = 255

// CheckNames says what is wrong with the first name of an attribute that cannot be one. A name that is not valid UTF-8
// would be stored under another: JSON has no such text, and puts U+FFFD in its place.
func CheckNames(names ...string) error {
	for _, name := range names {
		switch {
		case !utf8.ValidString(name):
			return fmt.Errorf("attribute name %.40q is not valid UTF-8: it would be stored under another name", name)
		case len(name) > maxNameBytes:
			return fmt.Errorf("attribute name %.40q… has %d bytes, want at most %d", name, len(name), maxNameBytes)
		}
	}
	return nil
}
