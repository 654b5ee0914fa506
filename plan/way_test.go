package plan

import "testing"

// A way that carries the load comes before one that is within the limits and does not.
func TestBestWay(t *testing.T) {
	w := &Workload{MaxDollars: 10}
	formula := Way{Name: ByFormula, Fits: true}
	for _, c := range []struct {
		name string
		ways []Way
		want string
	}{
		{"only one", []Way{{Name: AsIs}}, AsIs},
		{"the first of two that fit", []Way{{Name: AsIs, Fits: true}, {Name: Warmed, Fits: true}}, AsIs},
		{"one that fits", []Way{{Name: AsIs}, {Name: Warmed, Fits: true}}, Warmed},
		{"one that is cheap enough", []Way{{Name: AsIs, Fits: true, Dollars: 11}, {Name: Within, Fits: true, Dollars: 10}}, Within},
		{"one that fits and is too expensive", []Way{{Name: Within}, {Name: Warmed, Fits: true, Dollars: 11}}, Warmed},
	} {
		if got := w.best(append([]Way{formula}, c.ways...)); got.Name != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got.Name, c.want)
		}
	}
}
