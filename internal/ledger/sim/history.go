package sim

import "github.com/heatsink-go/heatsink/internal/ledger"

// Request is one use of a ledger, as a process has seen it: a strong read, or a conditional write.
type Request struct {
	Bucket, Process int
	Call            int64 // the moment it was asked for, in an order of all calls and returns
	Return          int64 // the moment it was answered; 0: never
	Write           bool
	If              int64         // of a write: the generation that must be stored
	Most            int           // of a write: the largest read width that may be
	Proposed        ledger.Record // of a write: what to store

	// Outcome is what the process takes for the outcome: Done, Refused, Throttled or Unknown.
	Outcome ledger.Outcome
	Record  ledger.Record // what a read has shown, or a write that was refused
}

// History runs a plan to its end, whatever promises are broken, and returns all uses of ledgers that had an effect or a
// result, or may have had one.
func History(p Plan, b Breaks) []Request {
	w := newWorld(p, b)
	w.blind = true
	w.run()
	return w.history
}

// moment returns the next moment of the history.
func (w *world) moment() int64 {
	w.moments++
	return w.moments
}

// called notes that a request is asked for, and returns its number, from 1.
func (w *world) called(r Request) int {
	r.Call = w.moment()
	w.history = append(w.history, r)
	return len(w.history)
}

// returned notes what a process was told about a request.
func (w *world) returned(n int, outcome ledger.Outcome, r ledger.Record) {
	e := &w.history[n-1]
	e.Return, e.Outcome, e.Record = w.moment(), outcome, r
}

// claimed notes that a process takes a write for done, whatever it was told.
func (w *world) claimed(n int) {
	if n > 0 && w.history[n-1].Outcome != ledger.Done {
		w.returned(n, ledger.Done, ledger.Record{})
	}
}
