package engine

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// tokens remembers the transactions of a while, Options.TokenLife, by the token their
// client gave them, so that one that is sent again is not done again. What it
// remembers is stored with the transaction itself and survives a crash.
type tokens struct {
	life time.Duration // of a token

	mu   sync.Mutex
	done map[string]*outcome
	busy map[string]bool
	kept []keptToken // what is stored, the soonest to expire first
}

// keptToken is a stored outcome's key.
type keptToken struct {
	expires int64
	token   string
}

// outcome is what is remembered of a transaction.
type outcome struct {
	Request uint64 // fingerprint
	Expires int64  // nanoseconds
	Tables  []string
	Units   []float64 // what reading the items again costs, for each table
}

func newTokens(life time.Duration) *tokens {
	return &tokens{life: life, done: map[string]*outcome{}, busy: map[string]bool{}}
}

// load reads what was stored.
func (t *tokens) load(v store.View) error {
	it, err := v.Read(store.Tokens())
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		o := &outcome{}
		if err = json.Unmarshal(it.Value(), o); err == nil {
			token := store.Token(it.Key())
			t.done[token] = o
			t.kept = append(t.kept, keptToken{o.Expires, token})
		}
	}
	if closed := it.Close(); err == nil {
		err = closed
	}
	return err
}

// begin starts the transaction of a token. If it was done before, begin returns
// its outcome instead.
func (t *tokens) begin(token string, request uint64) (*outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[token] {
		return nil, errorf(TypeTransactionInProgress, "The transaction with the given request token is already in progress.")
	}
	if o := t.done[token]; o != nil && time.Now().UnixNano() < o.Expires {
		if o.Request != request {
			return nil, errorf(TypeIdempotentMismatch, "Provided idempotency token has already been used with different request parameters")
		}
		return o, nil
	}
	t.busy[token] = true
	t.done[token] = &outcome{Request: request}
	return nil, nil
}

// record puts the outcome into the transaction's batch, and forgets what has
// expired.
func (t *tokens) record(b *store.Batch, token string, writes []*write) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for len(t.kept) > 0 && t.kept[0].expires <= now.UnixNano() {
		k := t.kept[0]
		b.Delete(store.TokenKey(k.expires, k.token))
		if o := t.done[k.token]; o != nil && o.Expires == k.expires { // not used again since
			delete(t.done, k.token)
		}
		t.kept = t.kept[1:]
	}
	o := t.done[token]
	o.Expires = now.Add(t.life).UnixNano()
	for _, w := range writes {
		i := slices.Index(o.Tables, w.table.name)
		if i < 0 {
			i = len(o.Tables)
			o.Tables, o.Units = append(o.Tables, w.table.name), append(o.Units, 0)
		}
		o.Units[i] += 2 * readUnits(max(w.before.Size(), w.after.Size()), true)
	}
	t.kept = append(t.kept, keptToken{o.Expires, token})
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // an outcome holds nothing that cannot be written
	}
	b.Set(store.TokenKey(o.Expires, token), text)
}

// revoke takes back what record noted: the batch was not applied.
func (t *tokens) revoke(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.done[token]; o != nil {
		o.Expires = 0
	}
}

// end ends a transaction: one that did not come to be recorded may be tried
// again.
func (t *tokens) end(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.busy, token)
	if o := t.done[token]; o != nil && o.Expires == 0 { // it may even have expired by now
		delete(t.done, token)
	}
}

// replay answers a transaction that was done before. It costs reads.
func (o *outcome) replay(in *TransactWriteItemsInput) *TransactWriteItemsOutput {
	out := &TransactWriteItemsOutput{}
	for i, name := range o.Tables {
		spent := bill{table: o.Units[i]}
		if c := spent.consumed(name, in.Returns.ConsumedCapacity, readCapacity); c != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, c)
		}
	}
	return out
}

// fingerprint tells requests apart that bear the same token.
func (in *TransactWriteItemsInput) fingerprint() uint64 {
	var f fingerprint
	f.Reset()
	for i := range in.Actions {
		a := &in.Actions[i]
		f.number(i)
		f.text(a.tableName())
		switch {
		case a.Put != nil:
			f.action("put", a.Put.Item, &a.Put.Expressions, a.Put.OnConditionFailure)
		case a.Update != nil:
			f.action("update", a.Update.Key, &a.Update.Expressions, a.Update.OnConditionFailure)
		case a.Delete != nil:
			f.action("delete", a.Delete.Key, &a.Delete.Expressions, a.Delete.OnConditionFailure)
		default:
			f.action("check", a.ConditionCheck.Key, &a.ConditionCheck.Expressions, a.ConditionCheck.OnConditionFailure)
		}
	}
	return f.Sum64()
}

type fingerprint struct{ xxhash.Digest }

func (f *fingerprint) number(n int) { _, _ = f.Write(binary.AppendVarint(nil, int64(n))) }

func (f *fingerprint) text(s *string) {
	if s == nil {
		f.number(-1)
		return
	}
	f.number(len(*s))
	_, _ = f.WriteString(*s)
}

func (f *fingerprint) action(kind string, it attr.Item, x *Expressions, onFailure string) {
	f.text(&kind)
	f.text(new(string(attr.NewRaw(it))))
	f.text(x.Condition)
	f.text(x.Update)
	f.number(len(x.Names))
	for _, placeholder := range slices.Sorted(maps.Keys(x.Names)) { // each with its length, as names may look like others
		f.text(&placeholder)
		f.text(new(x.Names[placeholder]))
	}
	f.text(new(string(attr.NewRaw(x.Values))))
	f.text(&onFailure)
}
