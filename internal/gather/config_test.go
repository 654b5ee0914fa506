package gather

import "testing"

func TestDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	if c.Memory != 64<<20 || c.MaxPage != 1<<20 || c.MaxEntry != 1<<20 || c.FirstPages != LeastPages || c.Concurrency != 16 {
		t.Errorf("got %+v", c)
	}
	if c.History == nil || c.Lost == nil || c.Lost(errLost) {
		t.Error("want a History, and every error to end a read")
	}
	set := Config{Memory: 1, MaxPage: 2, MaxEntry: 3, FirstPages: 4, Concurrency: 5, History: new(History), Lost: lost}
	if c := set.withDefaults(); c.Memory != 1 || c.MaxPage != 2 || c.MaxEntry != 3 || c.FirstPages != 4 || c.Concurrency != 5 || c.History != set.History || !c.Lost(errLost) {
		t.Errorf("got %+v, want what was set", c)
	}
}
