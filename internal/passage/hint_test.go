package passage

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/forward"
)

func recordAt(p forward.Phase, generation int64) *Record {
	return &Record{Generation: generation, Stage: forward.Stage{Phase: p}}
}

var (
	old     = forward.Sight{At: forward.InOld}
	moved   = forward.Sight{At: forward.InNew}
	created = forward.Sight{At: forward.InNew, Made: true}
	nowhere = forward.Sight{At: forward.Nowhere}
)

// see lets a process read an id, which is where s says.
func see(h *Hint, r *Record, shard, id string, kind forward.Kind, s forward.Sight) Guess {
	g := h.Guess(r, shard, id, kind)
	h.Saw(r, shard, id, kind, g, s)
	return g
}

func TestHint(t *testing.T) {
	type seen struct {
		shard, id string
		sight     forward.Sight
	}
	for _, test := range []struct {
		name  string
		phase forward.Phase
		seen  []seen
		kind  forward.Kind
		id    string // in shard a
		want  forward.First
	}{
		{"nothing is known", forward.Split, nil, forward.Update, "m", forward.OldFirst},
		{"nothing is known, and most have moved", forward.Closed, nil, forward.Update, "m", forward.NewFirst},
		{"before one that has moved", forward.Split, []seen{{"a", "m", moved}}, forward.Update, "b", forward.NewFirst},
		{"behind one that has not", forward.Split, []seen{{"a", "f", moved}, {"a", "m", old}, {"a", "b", moved}}, forward.Update, "x", forward.OldFirst},
		{"between the two, and the last had moved", forward.Split, []seen{{"a", "m", old}, {"a", "b", moved}}, forward.Update, "d", forward.NewFirst},
		{"between the two, and the last had not", forward.Split, []seen{{"a", "b", moved}, {"a", "m", old}}, forward.Update, "d", forward.OldFirst},
		{"of a shard that is unknown, as the last", forward.Split, []seen{{"b", "m", moved}}, forward.Update, "z", forward.NewFirst},
		{"the mover has passed it since", forward.Split, []seen{{"a", "c", old}, {"a", "m", moved}}, forward.Update, "c", forward.NewFirst},
		{"it was left behind by the mover", forward.Split, []seen{{"a", "m", moved}, {"a", "c", old}}, forward.Update, "c", forward.OldFirst},
		{"behind one that was left", forward.Split, []seen{{"a", "m", moved}, {"a", "c", old}}, forward.Update, "d", forward.OldFirst},
		{"before one that was left", forward.Split, []seen{{"a", "m", moved}, {"a", "c", old}}, forward.Update, "b", forward.NewFirst},
		{"one that was created says nothing of others", forward.Split, []seen{{"a", "d", old}, {"a", "m", created}}, forward.Update, "f", forward.OldFirst},
		{"one that was created is known itself", forward.Split, []seen{{"a", "d", old}, {"a", "m", created}}, forward.Update, "m", forward.NewFirst},
		{"a Put of one that is absent", forward.Split, []seen{{"a", "m", nowhere}}, forward.Put, "m", forward.StubFirst},
		{"an Upsert of one that is absent", forward.Closed, []seen{{"a", "m", nowhere}}, forward.Upsert, "m", forward.StubFirst},
		{"an Update of one that is absent", forward.Split, []seen{{"a", "m", nowhere}}, forward.Update, "m", forward.OldFirst},
		{"on the way back there is no boundary", forward.Back, []seen{{"a", "m", moved}, {"a", "c", old}}, forward.Get, "x", forward.OldFirst},
		{"on the way back an id is known itself", forward.Back, []seen{{"a", "m", moved}, {"a", "c", old}}, forward.Get, "m", forward.NewFirst},
	} {
		var h Hint
		r := recordAt(test.phase, 7)
		for _, s := range test.seen {
			see(&h, r, s.shard, s.id, forward.Get, s.sight)
		}
		if got := h.Guess(r, "a", test.id, test.kind).First; got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// What was seen at one stage says nothing about the next, also if it comes late.
func TestHintForgetsWithTheGeneration(t *testing.T) {
	var h Hint
	split, later := recordAt(forward.Split, 7), recordAt(forward.Split, 9)
	see(&h, split, "a", "m", forward.Get, moved)
	if got := h.Guess(later, "a", "b", forward.Update).First; got != forward.OldFirst {
		t.Errorf("got %v", got)
	}
	h.Saw(split, "a", "m", forward.Get, Guess{}, moved)
	if got := h.Guess(later, "a", "b", forward.Update).First; got != forward.OldFirst {
		t.Errorf("after what came late: got %v", got)
	}
	see(&h, later, "a", "m", forward.Get, moved)
	if got := h.Guess(split, "a", "b", forward.Update).First; got != forward.OldFirst {
		t.Errorf("by an older record: got %v", got)
	}
	if got := h.Guess(later, "a", "b", forward.Update).First; got != forward.NewFirst {
		t.Errorf("behind an older record: got %v", got)
	}
}

// A program that puts new ids, one after the other, pays for the stub and the item from the fourth on.
func TestHintLearnsThatIDsAreNew(t *testing.T) {
	var h Hint
	r := recordAt(forward.Split, 7)
	for i := range 5 {
		g := see(&h, r, "a", fmt.Sprintf("new-%d", i), forward.Put, created)
		if want := i >= surelyNew; (g.First == forward.StubFirst) != want {
			t.Errorf("put %d: got %v", i, g.First)
		}
	}
	if g := h.Guess(r, "a", "other", forward.Update); g.First == forward.StubFirst {
		t.Error("an update is no put")
	}
	see(&h, r, "a", "there", forward.Put, old)
	if g := h.Guess(r, "a", "another", forward.Put); g.First == forward.StubFirst {
		t.Error("a put of an id that is there changes nothing")
	}
}

// A read of an id that was seen nowhere asks both homes, and reads of other ids do not because of it.
func TestHintReadsBothHomesOfAnAbsentID(t *testing.T) {
	var h Hint
	r := recordAt(forward.Split, 7)
	see(&h, r, "a", "m", forward.Update, nowhere)
	for id, want := range map[string]bool{"m": true, "n": false} {
		if g := h.Guess(r, "a", id, forward.Get); g.Both != want {
			t.Errorf("%s: both is %v, want %v", id, g.Both, want)
		}
	}
}

// On the way back no boundary is kept, and none counts that is there.
func TestHintHasNoBoundaryOnTheWayBack(t *testing.T) {
	var h Hint
	back := recordAt(forward.Back, 7)
	see(&h, back, "a", "m", forward.Get, moved)
	if len(h.shards) != 0 {
		t.Errorf("%d boundaries", len(h.shards))
	}
	h = Hint{}
	split := recordAt(forward.Split, 7) // of the same number, as after a restore of the table
	see(&h, split, "a", "m", forward.Get, moved)
	see(&h, split, "b", "m", forward.Get, old)
	for r, want := range map[*Record]forward.First{split: forward.NewFirst, back: forward.OldFirst} {
		if g := h.Guess(r, "a", "b", forward.Update); g.First != want {
			t.Errorf("%v: got %v, want %v", r.Stage.Phase, g.First, want)
		}
	}
}

// However many reads miss, at most one of doubtful and one in a row asks its homes one after the other. These are less than 1 %.
func TestHintBoundsSecondReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Hint
		r := recordAt(forward.Split, 7)
		absent := rapid.IntRange(1, 400).Draw(t, "one absent of")
		const reads = 2000
		since, second := doubtful, 0
		for i := range reads {
			sight := old
			if rapid.IntRange(1, absent).Draw(t, "draw") == 1 {
				sight = nowhere
			}
			g := see(&h, r, "a", fmt.Sprintf("%06d", i), forward.Get, sight)
			if since++; g.Both || sight == old && g.First == forward.OldFirst {
				continue
			}
			if since <= doubtful {
				t.Fatalf("read %d asks a second time, %d reads after another", i, since)
			}
			since = 0
			second++
		}
		if second*100 >= reads {
			t.Fatalf("%d of %d reads ask a second time: want less than 1 %%", second, reads)
		}
	})
}

// A mover goes through a shard in order. Ids are drawn at random, and are seen where they are by then: a guess is right unless the id is
// between what was last seen on either side of the mover.
func TestHintFollowsAMover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Hint
		r := recordAt(forward.Split, 7)
		const ids = 1000
		at, low, high := 0, -1, ids // the mover; the greatest that was seen as moved, and the least that was not
		for range 300 {
			at = min(at+rapid.IntRange(0, 5).Draw(t, "moves"), ids)
			id := rapid.IntRange(0, ids-1).Draw(t, "id")
			sight, want := old, forward.OldFirst
			if id < at {
				sight, want = moved, forward.NewFirst
			}
			g := see(&h, r, "a", fmt.Sprintf("%04d", id), forward.Update, sight)
			passed := id >= high && id < at // the mover has passed it since anybody has looked
			if (id <= low || id >= high) && !passed && g.First != want {
				t.Fatalf("%d of %d: got %v, want %v; seen as moved up to %d, and not from %d on", id, at, g.First, want, low, high)
			}
			if sight == moved {
				low = max(low, id)
				high = max(high, id+1)
			} else {
				high = min(high, id)
			}
		}
	})
}

// A hint takes bounded memory, however many shards and ids there are, and any number of goroutines may use it.
func TestHintIsBoundedAndConcurrent(t *testing.T) {
	var h Hint
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 2000 {
				r := recordAt(forward.Split, int64(7+i/1500))
				see(&h, r, fmt.Sprint("shard ", i%(2*maxShards)), fmt.Sprint(n, i), forward.Get, []forward.Sight{old, moved, created, nowhere}[(n+i)%4])
			}
		})
	}
	all.Wait()
	if len(h.shards) > maxShards || len(h.ids) != maxTraces {
		t.Errorf("%d shards and %d ids", len(h.shards), len(h.ids))
	}
}
