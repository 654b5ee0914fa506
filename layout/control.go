package layout

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// ControlPrefix is what the partition keys of control items begin with. An adaptive collection keeps its records in such
// items, beside the data or in a table of their own. Keys of data must not begin with it.
const ControlPrefix = "_hs#"

// IsControl reports whether an item with this partition key is a control item, and not data. A consumer of a stream, an
// export or a scan leaves such items out.
func IsControl(partitionKey string) bool { return strings.HasPrefix(partitionKey, ControlPrefix) }

// Role is what a control item is for. Its value is the letter behind ControlPrefix.
type Role byte

// The roles.
const (
	RoleLedger  Role = 'L' // how many shards of a key, in a bucket, are written and read
	RoleHeat    Role = 'H' // how much all processes have written to that key
	RoleSpare   Role = 'S' // the same, while the partition of the first is too hot to be written
	RoleCharter Role = 'C' // what the layout of a collection is; there is one for each collection
	RoleMove    Role = 'M' // how far a move of the collection's items has come; there is at most one for each collection
	RolePassage Role = 'P' // where the items of a movable collection are, and where they move to; there is one for each
)

// String returns the role's name in lower case.
func (r Role) String() string {
	switch r {
	case RoleLedger:
		return "ledger"
	case RoleHeat:
		return "heat"
	case RoleSpare:
		return "spare heat"
	case RoleCharter:
		return "charter"
	case RoleMove:
		return "move"
	case RolePassage:
		return "passage"
	}
	return fmt.Sprintf("Role(%d)", byte(r))
}

// whole reports whether a control item of this role is of the whole collection, so that its key names no key.
func (r Role) whole() bool { return r == RoleCharter || r == RoleMove || r == RolePassage }

// ControlKey is the partition key of a control item in its parts:
//
//	_hs#L#orders##POST#12345             ledger of the key POST#12345 of the collection orders
//	_hs#H#orders#2024-12-02#POST#12345   heat of that key in a bucket
//	_hs#C#orders                         charter of the collection
//	_hs#M#orders                         checkpoint of a move of the collection
//	_hs#P#orders                         where the items of a movable collection are
type ControlKey struct {
	Role       Role
	Collection string // 1 to 64 letters, digits, "_", "." and "-"
	Bucket     string // "" without buckets, and of a charter, a move or a passage; it has no "#"
	Key        string // the key, which may have "#" in it; "" of a charter, a move or a passage
}

// Validate returns an error that wraps ErrKey if the parts are not those of a control item.
func (k ControlKey) Validate() error {
	fault := k.fault()
	if fault == "" {
		return nil
	}
	return fmt.Errorf("%w: control item of collection %s: %s", ErrKey, quote.Text(k.Collection), fault)
}

// fault returns what is wrong with the parts, "" if nothing is.
func (k ControlKey) fault() string {
	switch {
	case k.Role != RoleLedger && k.Role != RoleHeat && k.Role != RoleSpare && !k.Role.whole():
		return fmt.Sprintf("unknown role %s: it must be L, H, S, C, M or P", quote.Text(string(rune(k.Role))))
	case !isCollection(k.Collection):
		return fmt.Sprintf("the name of a collection must have 1 to %d characters out of letters, digits, \"_\", \".\" and \"-\"", maxCollection)
	case k.Role.whole() && k.Bucket+k.Key != "":
		return fmt.Sprintf("a %s is of the whole collection, but it has the bucket %s and the key %s", k.Role, quote.Text(k.Bucket), quote.Text(k.Key))
	case k.Role.whole():
		return ""
	case k.Key == "":
		return "the key is empty"
	case strings.Contains(k.Bucket, controlMark):
		return fmt.Sprintf("the bucket %s has a %q in it", quote.Text(k.Bucket), controlMark)
	case !utf8.ValidString(k.Bucket) || !utf8.ValidString(k.Key):
		return fmt.Sprintf("the bucket %s or the key %s is not valid UTF-8", quote.Text(k.Bucket), quote.Text(k.Key))
	}
	if n := len(k.String()); n > maxKeyBytes {
		return fmt.Sprintf("with the key %s it has %d bytes, but a partition key has at most %d", quote.Text(k.Key), n, maxKeyBytes)
	}
	return ""
}

const (
	controlMark   = "#" // between the parts
	maxCollection = 64  // bytes of a collection's name
)

func isCollection(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxCollection
}

// String returns the partition key. It is only that of a control item if Validate returns nil: otherwise it may be another
// item's.
func (k ControlKey) String() string {
	head := ControlPrefix + string(rune(k.Role)) + controlMark + k.Collection
	if k.Role.whole() {
		return head
	}
	return head + controlMark + k.Bucket + controlMark + k.Key
}

// ParseControlKey returns the parts of a control item's partition key. The error wraps ErrKey and says what is wrong with
// the text. For a text without an error, the String of the result is the text again.
func ParseControlKey(text string) (ControlKey, error) {
	rest, ok := strings.CutPrefix(text, ControlPrefix)
	if !ok {
		return ControlKey{}, keyError(text, fmt.Sprintf("it is not of a control item, which begins with %q", ControlPrefix))
	}
	if len(rest) < 2 || rest[1:2] != controlMark {
		return ControlKey{}, keyError(text, fmt.Sprintf("behind %q there must be L, H, S, C, M or P and %q", ControlPrefix, controlMark))
	}
	k := ControlKey{Role: Role(rest[0]), Collection: rest[2:]}
	if !k.Role.whole() {
		parts := strings.SplitN(k.Collection, controlMark, 3)
		if len(parts) < 3 {
			return ControlKey{}, keyError(text, "it does not have a collection, a bucket and a key")
		}
		k.Collection, k.Bucket, k.Key = parts[0], parts[1], parts[2]
	}
	if fault := k.fault(); fault != "" {
		return ControlKey{}, keyError(text, fault)
	}
	return k, nil
}
