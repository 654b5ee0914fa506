package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// input is an operation on the primary, output what it answered.
type input struct {
	kind  string // get, put, put if, delete
	title string // that is put; "" if deleted
	on    replica.Version
}

type output struct {
	version replica.Version // of what was read or written
	title   string          // that was read; "" if nothing was found
	refused bool
	unknown bool // it may happen at any time, or never
}

// register is the primary if one operation came after the other.
type register struct {
	version replica.Version
	title   string // "" if there is nothing
}

var registerModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{register{}} },
	Step: func(state, in, out any) []any {
		return stepRegister(state.(register), in.(input), out.(output))
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v: %+v", in, out) },
}

// stepRegister returns the states that may follow, none if the answer is impossible.
func stepRegister(r register, in input, out output) []any {
	written := register{out.version, in.title}
	switch {
	case in.kind == "get":
		if out.title != r.title || out.title != "" && out.version != r.version {
			return nil
		}
		return []any{r}
	case out.refused:
		if in.on == r.version && r.title != "" {
			return nil
		}
		return []any{r}
	case in.kind == "put if" && (in.on != r.version || r.title == ""):
		if out.unknown {
			return []any{r}
		}
		return nil
	case out.unknown: // its version is not known either: what is read next says
		return []any{r, register{-1, in.title}}
	case r.version >= out.version:
		return nil
	}
	return []any{written}
}

// On the primary, writes and reads with Latest are linearizable, whatever goes wrong with requests.
func TestLinearizable(t *testing.T) {
	operations, unknown := 0, 0
	for seed := range uint64(60) {
		bubble.Test(t, func(t *testing.T) {
			history := runClients(t, seed, 4, 8)
			for _, op := range history {
				operations++
				if op.Output.(output).unknown {
					unknown++
				}
			}
			model := registerModel
			model.Step = resolve(history)
			if result := porcupine.CheckOperationsTimeout(model.ToModel(), history, 0); result != porcupine.Ok {
				t.Errorf("seed %d: %s: %v", seed, result, history)
			}
		})
	}
	t.Logf("%d operations, of which %d have an unknown outcome", operations, unknown)
	if unknown < 20 {
		t.Errorf("%d unknown outcomes are too few for a test", unknown)
	}
}

// resolve returns stepRegister with the versions of unknown writes, where somebody has read them: titles are unique.
func resolve(history []porcupine.Operation) func(state, in, out any) []any {
	read := map[string]replica.Version{}
	for _, op := range history {
		if out := op.Output.(output); op.Input.(input).kind == "get" && out.title != "" {
			read[out.title] = out.version
		}
	}
	return func(state, in, out any) []any {
		next := stepRegister(state.(register), in.(input), out.(output))
		for i := range next {
			if r := next[i].(register); r.version == -1 {
				next[i] = register{read[r.title], r.title}
			}
		}
		return next
	}
}

func runClients(t *testing.T, seed uint64, clients, each int) (history []porcupine.Operation) {
	options := replica.Options{Copies: 2}
	client := setup(t, options)
	random := rand.New(rand.NewPCG(2, seed))
	client.Decide(faulty.Random(random, 30, faulty.LostAnswer, faulty.LostRequest, faulty.Late, faulty.Throttled))
	client.Delay(faulty.UpTo(random, 50*time.Millisecond))
	began := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	for id := range clients {
		posts := openOn(t, client, options)
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(id)))
			var seen replica.Version
			for i := range each {
				in := input{kind: []string{"get", "put", "put if", "delete"}[random.IntN(4)], on: seen}
				if in.kind == "put" || in.kind == "put if" {
					in.title = fmt.Sprint(id, "-", i)
				}
				op := porcupine.Operation{ClientId: id, Call: int64(time.Since(began))}
				out := do(posts, &in)
				op.Input, op.Output, op.Return = in, out, int64(time.Since(began))
				if out.unknown {
					op.ClientId, op.Return = clients+id*each+i, math.MaxInt64
				}
				seen = max(seen, out.version)
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	client.Wait()
	return history
}

// do runs an operation with Lazy writes, as only the primary is of interest.
func do(posts *replica.Store[post], in *input) (out output) {
	ctx := context.Background()
	var err error
	switch in.kind {
	case "get":
		var item replica.Item[post]
		item, err = posts.Get(ctx, "viral", replica.Latest)
		out.version, out.title = item.Version, item.Data.Title
		if errors.Is(err, replica.ErrNotFound) {
			err = nil
		}
		if err != nil { // nothing was learned, as if it had not been tried
			return do(posts, in)
		}
		return out
	case "put":
		out.version, err = posts.Put(ctx, "viral", post{Title: in.title}, replica.Lazy)
	case "put if":
		if in.on == 0 {
			in.on = 1 // 0 would mean that there is none
		}
		out.version, err = posts.Put(ctx, "viral", post{Title: in.title}, replica.Lazy, replica.IfVersion(in.on))
	case "delete":
		out.version, err = posts.Delete(ctx, "viral", replica.Lazy)
	}
	out.refused = errors.Is(err, replica.ErrConflict) || errors.Is(err, replica.ErrNotFound)
	out.unknown = errors.As(err, new(*heatsink.UnknownOutcomeError))
	if err != nil && !out.refused && !out.unknown { // throttled too often: certain not to have happened
		return do(posts, in)
	}
	return out
}

// The check is worth something: a lost write and a stale read are found out.
func TestLinearizableFindsFaults(t *testing.T) {
	put := porcupine.Operation{ClientId: 0, Input: input{kind: "put", title: "a"}, Output: output{version: 7}, Call: 1, Return: 2}
	stale := porcupine.Operation{ClientId: 1, Input: input{kind: "get"}, Output: output{}, Call: 3, Return: 4}
	if porcupine.CheckOperations(registerModel.ToModel(), []porcupine.Operation{put, stale}) {
		t.Error("a read that began after a write and does not show it passes")
	}
	stale.Call = 1
	if !porcupine.CheckOperations(registerModel.ToModel(), []porcupine.Operation{put, stale}) {
		t.Error("a read at the same time as a write need not show it")
	}
}
