package expr

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Scope is what a request's expressions can refer to: its
// ExpressionAttributeNames and ExpressionAttributeValues. It remembers which of
// them were used. A Scope is for one request and one goroutine; the expressions
// parsed with it keep its values, not the Scope.
type Scope struct {
	names  map[string]string
	values attr.Item

	usedNames  []string // without repetition
	usedValues []bool   // by position in values

	fewNames  [4]string // memory for the two, if it is enough
	fewValues [16]bool
}

// NewScope returns the scope of a request with the given names, by placeholder
// with its #, and values, by placeholder with its colon. Nil means that the
// request does not have the parameter, which is not the same as an empty one.
func NewScope(names map[string]string, values attr.Item) *Scope {
	s := &Scope{names: names, values: values}
	s.usedNames = s.fewNames[:0]
	if len(values) <= len(s.fewValues) {
		s.usedValues = s.fewValues[:len(values)]
	} else {
		s.usedValues = make([]bool, len(values))
	}
	return s
}

// Validate reports what is wrong with the placeholders themselves. Requests are
// checked for it before their expressions are read.
func (s *Scope) Validate() error {
	if s.names != nil {
		if len(s.names) == 0 {
			return attr.Fault("ExpressionAttributeNames must not be empty")
		}
		for _, key := range slices.Sorted(maps.Keys(s.names)) {
			if len(key) > maxPlaceholder {
				return attr.Fault("ExpressionAttributeNames contains invalid key: " +
					"The expression attribute map contains a key that is too long; size of key: " + strconv.Itoa(len(key)))
			}
			if !isPlaceholder('#', key) {
				return attr.Fault("ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + key + "\"")
			}
			if err := attr.CheckName(s.names[key]); err != nil {
				return attr.Fault("ExpressionAttributeNames contains invalid value: " + err.Error() + " for key " + key)
			}
		}
	}
	if s.values == nil {
		return nil
	}
	if len(s.values) == 0 {
		return attr.Fault("ExpressionAttributeValues must not be empty")
	}
	for i := range s.values {
		key := s.values[i].Name
		if len(key) > maxPlaceholder {
			return attr.Fault("ExpressionAttributeValues contains invalid key: " +
				"The expression attribute map contains a key that is too long;")
		}
		if !isPlaceholder(':', key) {
			return attr.Fault("ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + key + "\"")
		}
	}
	return nil
}

func isPlaceholder(sigil byte, key string) bool {
	return len(key) > 1 && key[0] == sigil && token.WordEnd(key, 1) == len(key)
}

// Unused reports names, or else values, that none of the expressions parsed
// with this scope refers to.
func (s *Scope) Unused() error {
	if len(s.usedNames) < len(s.names) {
		used := make(map[string]bool, len(s.usedNames))
		for _, key := range s.usedNames {
			used[key] = true
		}
		var keys []string
		for key := range s.names {
			if !used[key] {
				keys = append(keys, key)
			}
		}
		return unused("ExpressionAttributeNames", len(s.names), keys)
	}
	if slices.Contains(s.usedValues, false) {
		var keys []string
		for i := range s.values {
			if !s.usedValues[i] {
				keys = append(keys, s.values[i].Name)
			}
		}
		return unused("ExpressionAttributeValues", len(s.values), keys)
	}
	return nil
}

// unused lists placeholders of a map that has total entries, in the order in
// which a Java HashSet made from its keys would: that is how DynamoDB does it.
func unused(parameter string, total int, keys []string) error {
	buckets := uint32(16)
	for buckets < uint32(total*4/3+1) {
		buckets *= 2
	}
	type entry struct {
		bucket uint32
		key    string
	}
	entries := make([]entry, len(keys))
	for i, key := range keys {
		var hash uint32
		for j := range len(key) {
			hash = 31*hash + uint32(key[j])
		}
		entries[i] = entry{(hash ^ hash>>16) % buckets, key}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), strings.Compare(a.key, b.key))
	})
	for i := range entries {
		keys[i] = entries[i].key
	}
	return attr.Fault("Value provided in " + parameter + " unused in expressions: keys: {" + strings.Join(keys, ", ") + "}")
}

// name returns what a placeholder for a name stands for.
func (s *Scope) name(role Role, ref string) (string, error) {
	name, ok := s.names[ref]
	if !ok {
		return "", role.fault("An expression attribute name used in the document path is not defined; attribute name: " + ref)
	}
	if !slices.Contains(s.usedNames, ref) {
		s.usedNames = append(s.usedNames, ref)
	}
	return name, nil
}

// value returns what a placeholder for a value stands for.
func (s *Scope) value(role Role, ref string) (*attr.Value, error) {
	i, ok := search(s.values, ref)
	if !ok {
		return nil, role.fault("An expression attribute value used in expression is not defined; attribute value: " + ref)
	}
	s.usedValues[i] = true
	return &s.values[i].Value, nil
}
