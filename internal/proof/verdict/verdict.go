// Package verdict is how proofs end: with what does not hold, for people, and one JSON object, for programs.
//
// A proof embeds a Verdict beside its figures, so that both are in the object:
//
//	type proof struct {
//		Figures []figure `json:"figures"`
//		verdict.Verdict
//	}
//
//	p := &proof{Verdict: verdict.New()}
//	p.Check(n == 0, "%d items are lost, want none", n)
//	if !p.End(os.Stdout, p) {
//		os.Exit(1)
//	}
package verdict

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Verdict collects what a proof found. It is for one goroutine at a time.
type Verdict struct {
	Skipped []string `json:"skipped,omitempty"` // what could not be shown on this machine, which is no failure
	Missed  []string `json:"missed"`            // what must hold and does not
	Seconds float64  `json:"seconds"`           // from New to End

	began time.Time
}

// New returns the verdict of a proof that begins now: everything holds so far.
func New() Verdict { return Verdict{Missed: []string{}, began: time.Now()} }

// Check notes something that must hold and does not, in the words of fmt.Sprintf. It does nothing if holds is true.
func (v *Verdict) Check(holds bool, format string, args ...any) {
	if !holds {
		v.Missed = append(v.Missed, fmt.Sprintf(format, args...))
	}
}

// Skip notes something that could not be shown on this machine, and why.
func (v *Verdict) Skip(what, why string) { v.Skipped = append(v.Skipped, what+": "+why) }

// End writes the verdict, and the proof as JSON in one last line. The proof is the struct that v is embedded in. It
// reports whether everything holds; it does not if the proof is no JSON or out cannot be written to.
func (v *Verdict) End(out io.Writer, proof any) (holds bool) {
	v.Seconds = time.Since(v.began).Seconds()
	object, err := json.Marshal(proof)
	if err != nil {
		v.Check(false, "the figures cannot be written as JSON: %v", err)
		object, _ = json.Marshal(v) // texts and a number: that cannot go wrong
	}
	var b strings.Builder
	b.WriteString("\n== verdict\n")
	if len(v.Skipped) > 0 {
		fmt.Fprintf(&b, "not shown on this machine:\n  %s\n", strings.Join(v.Skipped, "\n  "))
	}
	if len(v.Missed) == 0 {
		b.WriteString("everything holds\n")
	} else {
		fmt.Fprintf(&b, "%d things do not hold:\n  %s\n", len(v.Missed), strings.Join(v.Missed, "\n  "))
	}
	fmt.Fprintf(&b, "%s\n", object)
	_, err = io.WriteString(out, b.String())
	return err == nil && len(v.Missed) == 0
}
