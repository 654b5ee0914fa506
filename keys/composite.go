package keys

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrPart is wrapped by every error of this package. A part of a key is missing, or could not be parsed back.
var ErrPart = errors.New("invalid key part")

// Separator stands between the parts of composite and entity keys.
const Separator = "#"

// Composite joins parts with "#": USER#123#ORDER#456. A part may be empty, but must not contain the separator.
func Composite(parts ...string) (string, error) { return CompositeWith(Separator, parts...) }

// CompositeWith joins parts with a separator of one or more characters.
func CompositeWith(separator string, parts ...string) (string, error) {
	if separator == "" {
		return "", fmt.Errorf("%w: the separator is empty", ErrPart)
	}
	if len(parts) == 0 || len(parts) == 1 && parts[0] == "" {
		return "", fmt.Errorf("%w: a composite key needs at least one non-empty part", ErrPart)
	}
	for i, part := range parts {
		if !utf8.ValidString(part) {
			return "", partError(i, part, "is not valid UTF-8")
		}
		if strings.Contains(part, separator) {
			return "", partError(i, part, fmt.Sprintf("contains the separator %q", separator))
		}
		// "a:" before "::" would be split after the a.
		if i < len(parts)-1 && strings.Index(part+separator, separator) < len(part) {
			return "", partError(i, part, fmt.Sprintf("runs into the separator %q", separator))
		}
	}
	return strings.Join(parts, separator), nil
}

// ParseComposite splits a key at every "#".
func ParseComposite(key string) ([]string, error) { return ParseCompositeWith(Separator, key) }

// ParseCompositeWith splits a key at every separator.
func ParseCompositeWith(separator, key string) ([]string, error) {
	if separator == "" {
		return nil, fmt.Errorf("%w: the separator is empty", ErrPart)
	}
	if err := check("key", key); err != nil {
		return nil, err
	}
	return strings.Split(key, separator), nil
}

// check refuses what no part of a key may be. what says which part it is.
func check(what, part string) error {
	switch {
	case part == "":
		return fmt.Errorf("%w: the %s is empty", ErrPart, what)
	case !utf8.ValidString(part):
		return fmt.Errorf("%w: the %s %s is not valid UTF-8", ErrPart, what, excerpt(part))
	}
	return nil
}

func partError(i int, part, fault string) error {
	return fmt.Errorf("%w %d: %s %s", ErrPart, i, excerpt(part), fault)
}

// excerpt quotes a text for an error, shortened if it is long.
func excerpt(text string) string {
	const most = 80
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
}
