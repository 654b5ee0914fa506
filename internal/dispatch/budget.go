package dispatch

import "sync/atomic"

// budget keeps retries from making an overload worse. The first attempt of every request adds Retry.Budget of a token,
// every retry takes one token, and there are never more than Retry.Burst tokens. If everything is throttled,
//
//	attempts ≤ (1 + Budget) × requests + Burst
//
// whatever Retry.Attempts allows a single request.
type budget struct {
	tokens  atomic.Int64 // in millionths
	deposit int64
	most    int64
}

const wholeToken = 1_000_000

func newBudget(r Retry) *budget {
	b := &budget{deposit: int64(r.Budget * wholeToken), most: int64(r.Burst) * wholeToken}
	b.tokens.Store(b.most)
	return b
}

// request adds the tokens of a first attempt. As long as nothing is retried, it writes nothing.
func (b *budget) request() {
	for {
		old := b.tokens.Load()
		if old >= b.most || b.tokens.CompareAndSwap(old, min(old+b.deposit, b.most)) {
			return
		}
	}
}

// retry takes a token, or reports false if there is none.
func (b *budget) retry() bool {
	for {
		old := b.tokens.Load()
		if old < wholeToken {
			return false
		}
		if b.tokens.CompareAndSwap(old, old-wholeToken) {
			return true
		}
	}
}
