package compose

import "testing"

func TestCheckPlaceholders(t *testing.T) {
	for _, c := range []struct {
		name   string
		names  map[string]string
		values Item
		ok     bool
	}{
		{"nothing", nil, nil, true},
		{"the caller's own", map[string]string{"#a": "hs_a", "#hs": "b"}, Item{":hs": nil}, true},
		{"a name", map[string]string{"#hs_pk": "a"}, nil, false},
		{"a value", nil, Item{":hs_0": nil}, false},
	} {
		err := CheckPlaceholders(c.names, c.values)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want it to be accepted: %t", c.name, err, c.ok)
		}
		names, err := Names(c.names)
		if refused := len(c.names) > 0 && !c.ok; (err != nil) != refused || names == nil && !refused {
			t.Errorf("%s: got names %v, %v", c.name, names, err)
		}
		values, err := Values(c.values)
		if refused := len(c.values) > 0 && !c.ok; (err != nil) != refused || values == nil && !refused {
			t.Errorf("%s: got values %v, %v", c.name, values, err)
		}
	}
}
