package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kind says what two answers differ in.
type Kind string

// The kinds, the gravest first.
const (
	Outcome  Kind = "outcome"  // one succeeds and the other does not, or their exceptions have different types
	Text     Kind = "text"     // the messages of the same exception
	Content  Kind = "content"  // what is returned
	Capacity Kind = "capacity" // the units that it took
)

// Difference is what one answer has and the other has not. Both sides are without the names and values of this one request, so that
// the same fault has the same sides in every request.
type Difference struct {
	Kind         Kind
	Ours, Theirs string
}

// Compare returns how two answers differ: nothing if they do not, otherwise the gravest difference and, if it does not follow from
// that one, that of what is stored or of the capacity.
func Compare(ours, theirs Answer) (found []Difference) {
	switch {
	case !ours.Same(theirs, Outcome):
		return []Difference{{Outcome, outcome(ours), outcome(theirs)}}
	case !ours.Same(theirs, Text):
		found = append(found, Difference{Text, ours.Type + ": " + Generic(ours.Message), theirs.Type + ": " + Generic(theirs.Message)})
		if a, b := ours.Stored(), theirs.Stored(); JSON(a) != JSON(b) { // whatever is said, what is stored must be the same
			mine, other := first(".stored", a, b)
			found = append(found, Difference{Content, mine, other})
		}
		return found
	case !ours.Same(theirs, Content):
		mine, other := first("", ours.Body, theirs.Body)
		found = append(found, Difference{Content, mine, other})
	}
	if !ours.Same(theirs, Capacity) {
		mine, other := first("", ours.Capacity, theirs.Capacity)
		found = append(found, Difference{Capacity, mine, other})
	}
	return found
}

// Same says that two answers do not differ in this way. Answers that differ in a graver way are not the same, either.
func (a Answer) Same(b Answer, kind Kind) bool {
	switch kind {
	case Outcome:
		return a.Type == b.Type
	case Text:
		return a.Type == b.Type && a.Message == b.Message
	case Content:
		return a.Type == b.Type && a.Message == b.Message && JSON(a.Body) == JSON(b.Body)
	default:
		return JSON(a.Capacity) == JSON(b.Capacity)
	}
}

// Stored is what lies under the keys of a request after it.
func (a Answer) Stored() any {
	fields, _ := a.Body.(map[string]any)
	return fields["stored"]
}

func outcome(a Answer) string {
	if a.Type == "" {
		return "succeeds"
	}
	return a.Type + ": " + Generic(a.Message)
}

// first returns the first place in which two values differ, with what either has there.
func first(at string, ours, theirs any) (mine, other string) {
	switch o := ours.(type) {
	case map[string]any:
		t, ok := theirs.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(o)
		maps.Copy(names, t)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			a, inOurs := o[name]
			b, inTheirs := t[name]
			place := at + "." + name
			switch {
			case !inOurs:
				return "no " + Generic(place), Generic(place)
			case !inTheirs:
				return Generic(place), "no " + Generic(place)
			case JSON(a) != JSON(b):
				return first(place, a, b)
			}
		}
	case []any:
		t, ok := theirs.([]any)
		if !ok {
			break
		}
		if len(o) != len(t) {
			return fmt.Sprintf("%s: other elements", Generic(at)), fmt.Sprintf("%s: other elements", Generic(at))
		}
		for i := range o {
			if JSON(o[i]) != JSON(t[i]) {
				return first(at+"[]", o[i], t[i])
			}
		}
	}
	return Generic(at) + " = " + generic(ours), Generic(at) + " = " + generic(theirs)
}

// generic is a value without what is particular to its request: messages as such, all else as its type.
func generic(v any) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, " ") {
			return Generic(v)
		}
		return "a text"
	case json.Number, int64, float64:
		return "a number"
	}
	return "another value"
}

var generics = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`:v\d+x?|:unused`), ":v"},
	{regexp.MustCompile(`#\w+`), "#n"},
	{regexp.MustCompile(`AttributeValue: ?\{[^}]*\}+`), "AttributeValue: {…}"},
	{regexp.MustCompile(`token: "[^"]*", near: "[^"]*"`), `token: "…", near: "…"`},
	{regexp.MustCompile(`\[\(?[^][]*\)?\]`), "[…]"},
	{regexp.MustCompile(`\b(gp|gs|ls|p|s|a|b|c|m|l|n|q|size)\b`), "x"},
	{regexp.MustCompile(`(attribute|Attribute|key|name|Name): \S+`), "$1: x"},
	{regexp.MustCompile(`"x"|'x'`), "x"},
	{regexp.MustCompile(`\d+`), "9"},
}

// Generic is a message without the names and values of its request.
func Generic(message string) string {
	for _, g := range generics {
		message = g.find.ReplaceAllString(message, g.with)
	}
	return message
}
