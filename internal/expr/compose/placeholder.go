package compose

import (
	"fmt"
	"maps"
	"strings"
)

// Placeholder begins the names and values that heatsink adds to expressions, after their # or :.
const Placeholder = "hs_"

// CheckPlaceholders refuses names and values of a request that begin like heatsink's own.
func CheckPlaceholders(names map[string]string, values Item) error {
	for name := range names {
		if strings.HasPrefix(name, "#"+Placeholder) {
			return fmt.Errorf("the name %s begins with #%s, which heatsink reserves: use another name", name, Placeholder)
		}
	}
	for name := range values {
		if strings.HasPrefix(name, ":"+Placeholder) {
			return fmt.Errorf("the value %s begins with :%s, which heatsink reserves: use another name", name, Placeholder)
		}
	}
	return nil
}

// Names returns a copy of a request's names that heatsink's own can be added to. Those of the request must not begin
// like heatsink's.
func Names(names map[string]string) (map[string]string, error) {
	if err := CheckPlaceholders(names, nil); err != nil {
		return nil, err
	}
	own := maps.Clone(names)
	if own == nil {
		own = map[string]string{}
	}
	return own, nil
}

// Values is Names for the values of a request.
func Values(values Item) (Item, error) {
	if err := CheckPlaceholders(nil, values); err != nil {
		return nil, err
	}
	own := maps.Clone(values)
	if own == nil {
		own = Item{}
	}
	return own, nil
}
