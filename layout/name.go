package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// named is a value that is written down by its name: a Bucket, a Hash or a Strategy.
type named interface {
	~uint8
	String() string
}

// marshalName returns the name of a value. what says in an error what kind of value it is.
func marshalName[T named](what string, value T, names []string) ([]byte, error) {
	if int(value) >= len(names) {
		return nil, fmt.Errorf("%w: unknown %s %s: it must be one of %s", ErrInvalid, what, value, strings.Join(names, ", "))
	}
	return []byte(names[value]), nil
}

// unmarshalName sets a value to the one with a name.
func unmarshalName[T named](what string, value *T, text []byte, names []string) error {
	at := slices.Index(names, string(text))
	if at < 0 {
		return fmt.Errorf("%w: unknown %s %s: it must be one of %s", ErrInvalid, what, quote.Text(string(text)), strings.Join(names, ", "))
	}
	*value = T(at)
	return nil
}
