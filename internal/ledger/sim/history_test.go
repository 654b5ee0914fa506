package sim

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// register is a ledger if one request came after the other: a register with compare-and-set.
func register(s layout.Strategy) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return ledger.Absent(s, layout.XXHash) },
		Step: func(state, input, output any) (bool, any) {
			return stepRegister(state.(ledger.Record), input.(Request), output.(Request))
		},
		Equal: func(a, b any) bool { return a.(ledger.Record).Equal(b.(ledger.Record)) },
		DescribeOperation: func(_, output any) string {
			r := output.(Request)
			if !r.Write {
				return fmt.Sprintf("read generation %d", r.Record.Generation)
			}
			return fmt.Sprintf("store generation %d if %d: outcome %d", r.Proposed.Generation, r.If, r.Outcome)
		},
	}
}

func stepRegister(state ledger.Record, in, out Request) (bool, ledger.Record) {
	holds := state.Generation == in.If && state.Read <= in.Most
	switch {
	case !in.Write:
		return out.Record.Equal(state), state
	case out.Outcome == ledger.Done:
		return holds, in.Proposed
	case out.Outcome == ledger.Refused:
		return !holds && out.Record.Equal(state), state
	case holds: // nobody knows, so that it may come at any later time, or at the end
		return true, in.Proposed
	}
	return true, state
}

// operations returns a history as porcupine takes it, apart for each bucket. A request without an answer may have had its
// effect at any time since, and a read without one is left out.
func operations(history []Request, buckets int) [][]porcupine.Operation {
	parts := make([][]porcupine.Operation, buckets)
	for _, r := range history {
		open := r.Return == 0 || r.Outcome == ledger.Unknown
		switch {
		case open && !r.Write, r.Outcome == ledger.Throttled:
			continue
		case open:
			r.Return, r.Outcome = math.MaxInt64, ledger.Unknown
		}
		parts[r.Bucket] = append(parts[r.Bucket], porcupine.Operation{ClientId: r.Process, Input: r, Call: r.Call, Output: r, Return: r.Return})
	}
	return parts
}

// linear returns the first bucket whose ledger is no register, and what porcupine says of it; -1 if all are.
func linear(p Plan, history []Request) (bucket int, result porcupine.CheckResult) {
	for n, part := range operations(history, p.Buckets) {
		if result := porcupine.CheckOperationsTimeout(register(p.Strategy), part, 10*time.Second); result != porcupine.Ok {
			return n, result
		}
	}
	return -1, porcupine.Ok
}

// What processes see of a ledger, and what they take for stored, is what they would see if one request came after the other.
func TestLedgerIsARegister(t *testing.T) {
	t.Parallel()
	requests := 0
	for seed := range uint64(300) {
		p := lossless(NewPlan(seed + 1))
		history := History(p, Breaks{})
		if bucket, result := linear(p, history); bucket >= 0 {
			t.Fatalf("seed %d, bucket %d: %s: %+v", seed+1, bucket, result, history)
		}
		requests += len(history)
	}
	if requests < 300*20 {
		t.Errorf("%d requests in 300 seeds show little", requests)
	}
}

// Without the rules of compare-and-set it is none. Porcupine sees that from the requests alone.
func TestBrokenLedgerIsNoRegister(t *testing.T) {
	for _, name := range []string{"AnyGeneration", "CreateBlindly", "AssumeGrown", "RepairBlindly", "JoinInFlight"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := breaks()[name]
			for seed := range uint64(300) {
				p := lossless(NewPlan(seed + 1))
				switch bucket, result := linear(p, History(p, b)); {
				case result == porcupine.Unknown:
					t.Fatalf("seed %d, bucket %d: porcupine has no answer", seed+1, bucket)
				case bucket >= 0:
					t.Logf("%s: caught after %d seeds", name, seed+1)
					return
				}
			}
			t.Error("not caught in 300 seeds")
		})
	}
}
