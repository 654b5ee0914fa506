package passage

import (
	"hash/maphash"
	"sync"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// Hint guesses where an id is while items move, by what the process's own operations have seen. A wrong guess makes an operation slower, and
// never wrong. The zero Hint is ready for use, also concurrently.
//
// A mover goes through each old shard in the order of sort keys. So a hint keeps one boundary for each of them: ids below it have moved, and
// ids behind it have not. Beside that it remembers single ids, because those that were created or deleted meanwhile do not follow the boundary,
// and because a program often writes what it has just read. Both are dropped when the record changes.
type Hint struct {
	mu         sync.Mutex
	generation int64
	clock      uint32 // of what was seen
	seed       maphash.Seed
	ids        []trace // by hash; nil before the first
	shards     map[string]*boundary
	last       forward.Where // of the last id that a boundary knows
	creations  int           // how sure it is that an unknown id is new, from 0 to surelyNew
	both       int           // how many reads are to ask both homes at once
}

// Guess is how an operation begins.
type Guess struct {
	First forward.First
	// Both says that a read asks both homes at once: see carry.Carrier.ReadBoth.
	Both bool
}

const (
	maxTraces = 4096 // a power of two; 64 KB
	maxShards = 256  // old shards with a boundary
	surelyNew = 3    // puts of new ids in a row

	// doubtful is how many reads ask both homes after one for which its first home was not enough. So at most one of so many reads in a row
	// has to ask a second time: less than 1 %, also if many ids are absent, which only both homes together can tell.
	doubtful = 128
)

// trace is where an id was seen.
type trace struct {
	hash uint64 // of the shard and the id
	when uint32 // by Hint.clock
	at   forward.Where
}

// boundary is how far a mover has come in an old shard. Ids before below have moved, and those from rest on have not. Of ids in between
// nothing is known. below is never behind rest.
type boundary struct {
	below  string
	rest   string
	open   bool   // there is no rest: no id was seen that has not moved
	raised uint32 // when below was last raised
	last   forward.Where
}

// Guess returns how an operation on an id begins. shard is the key of its old home, and id the text of its sort key, in whose order items
// move.
func (h *Hint) Guess(r *Record, shard, id string, kind forward.Kind) Guess {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids != nil && r.Generation < h.generation {
		return Guess{} // it will be stale
	}
	h.begin(r)
	known := h.recall(shard, id)
	g := Guess{First: forward.OldFirst}
	at := known
	if known == forward.Unseen {
		at = h.expect(r, shard, id)
	}
	if at == forward.InNew {
		g.First = forward.NewFirst
	}
	switch {
	case kind == forward.Get:
		g.Both = h.both > 0 || known == forward.Nowhere
		h.both = max(h.both-1, 0)
	case creates(kind) && (known == forward.Nowhere || known == forward.Unseen && h.creations == surelyNew):
		g.First = forward.StubFirst
	}
	return g
}

// creates reports whether operations of a kind create an id that is not there.
func creates(k forward.Kind) bool {
	return k == forward.Put || k == forward.Upsert || k == forward.Create
}

// Saw tells where an operation has seen an id that was guessed.
func (h *Hint) Saw(r *Record, shard, id string, kind forward.Kind, g Guess, s forward.Sight) {
	if s.At == forward.Unseen {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.generation != r.Generation {
		return // it is about another stage
	}
	h.clock++
	known := h.recall(shard, id)
	right := s.At == forward.InOld && g.First == forward.OldFirst || s.At == forward.InNew && g.First == forward.NewFirst
	switch {
	case kind == forward.Get && !right:
		h.both = doubtful
	case creates(kind) && known == forward.Unseen:
		h.creations--
		if s.Made {
			h.creations += 2
		}
		h.creations = min(max(h.creations, 0), surelyNew)
	}
	if s.At != known { // else it is no news
		h.learn(r, shard, id, s)
	}
	h.remember(shard, id, s.At)
}

// begin forgets what was seen at another stage.
func (h *Hint) begin(r *Record) {
	if h.ids != nil && h.generation == r.Generation {
		return
	}
	if h.ids == nil {
		h.seed = maphash.MakeSeed()
	}
	h.generation, h.clock = r.Generation, 0
	h.ids, h.shards = make([]trace, maxTraces), map[string]*boundary{}
	h.last, h.creations, h.both = forward.Unseen, 0, 0
}

// trace returns where an id is remembered, with its hash.
func (h *Hint) trace(shard, id string) (*trace, uint64) {
	var m maphash.Hash
	m.SetSeed(h.seed)
	m.WriteString(shard)
	m.WriteByte(0)
	m.WriteString(id)
	hash := m.Sum64()
	return &h.ids[hash%maxTraces], hash
}

// remember keeps where an id was seen.
func (h *Hint) remember(shard, id string, at forward.Where) {
	t, hash := h.trace(shard, id)
	*t = trace{hash, h.clock, at}
}

// recall returns where an id was seen, unless the boundary has passed it since.
func (h *Hint) recall(shard, id string) forward.Where {
	t, hash := h.trace(shard, id)
	if t.hash != hash {
		return forward.Unseen
	}
	if b := h.shards[shard]; b != nil && t.at == forward.InOld && id < b.below && t.when < b.raised {
		return forward.Unseen
	}
	return t.at
}

// expect returns where an id is probably, by the boundary of its shard.
func (h *Hint) expect(r *Record, shard, id string) forward.Where {
	b := h.shards[shard]
	switch {
	case r.Stage.Phase == forward.Back: // ids have moved up to one boundary, and are back up to another
	case b == nil:
	case id < b.below:
		return forward.InNew
	case !b.open && id >= b.rest:
		return forward.InOld
	default:
		return b.last
	}
	if h.last == forward.Unseen && r.Stage.Phase == forward.Closed {
		return forward.InNew // the stage has only begun to move the rest
	}
	return h.last
}

// learn adjusts the boundary of a shard. What was seen last is right: a second mover, or a second pass, may be somewhere else.
func (h *Hint) learn(r *Record, shard, id string, s forward.Sight) {
	if s.At == forward.Nowhere || s.At == forward.InNew && s.Made {
		return
	}
	h.last = s.At
	if r.Stage.Phase == forward.Back {
		return
	}
	b := h.shards[shard]
	if b == nil {
		if len(h.shards) >= maxShards {
			for other := range h.shards { // any
				delete(h.shards, other)
				break
			}
		}
		b = &boundary{open: true}
		h.shards[shard] = b
	}
	b.last = s.At
	if s.At == forward.InOld {
		if b.open || id < b.rest {
			b.rest, b.open = id, false
		}
		b.below = min(b.below, id)
		return
	}
	if behind := id + "\x00"; behind > b.below {
		b.below, b.raised = behind, h.clock
		if !b.open {
			b.rest = max(b.rest, behind)
		}
	}
}
