package dispatch

import "sync/atomic"

// budget keeps retries from making an overload worse. Every request that is sent for the first time pays Retry.Budget of
// a token in, every retry takes one out, and there are never more than Retry.Burst. So if everything is throttled,
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

// request pays for a first attempt. As long as nothing is retried there is nothing to write.
func (b *budget) request() {
	for {
		old := b.tokens.Load()
		if old >= b.most || b.tokens.CompareAndSwap(old, min(old+b.deposit, b.most)) {
			return
		}
	}
}

// retry takes a token, and reports false if there is none.
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
