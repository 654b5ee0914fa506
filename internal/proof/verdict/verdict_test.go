package verdict_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/proof/verdict"
)

// proof is one as they are.
type proof struct {
	Lost float64 `json:"lost"`
	verdict.Verdict
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		lost  float64
		show  func(*proof)
		holds bool
		want  string
	}{
		{
			"everything holds", 0, func(p *proof) { p.Check(true, "nothing is lost") }, true,
			"\n== verdict\neverything holds\n" + `{"lost":0,"missed":[],"seconds":90}` + "\n",
		},
		{
			"not everything", 2, func(p *proof) { p.Check(false, "%d are lost", 2); p.Check(false, "it ended") }, false,
			"\n== verdict\n2 things do not hold:\n  2 are lost\n  it ended\n" + `{"lost":2,"missed":["2 are lost","it ended"],"seconds":90}` + "\n",
		},
		{
			"not shown", 0, func(p *proof) { p.Skip("a full disk", "it needs root") }, true,
			"\n== verdict\nnot shown on this machine:\n  a full disk: it needs root\neverything holds\n" +
				`{"lost":0,"skipped":["a full disk: it needs root"],"missed":[],"seconds":90}` + "\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				p := &proof{Lost: c.lost, Verdict: verdict.New()}
				time.Sleep(90 * time.Second)
				c.show(p)
				var out strings.Builder
				if holds := p.End(&out, p); holds != c.holds || out.String() != c.want {
					t.Errorf("got %v, %q\nwant %v, %q", holds, out.String(), c.holds, c.want)
				}
			})
		})
	}
}

// A figure that JSON cannot hold is no reason to lose the others, and nothing holds by it.
func TestEndWithoutJSON(t *testing.T) {
	p := &proof{Lost: math.NaN(), Verdict: verdict.New()}
	var out strings.Builder
	if p.End(&out, p) {
		t.Error("everything holds, though the figures are not there")
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got verdict.Verdict
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil || len(got.Missed) != 1 || !strings.Contains(got.Missed[0], "NaN") {
		t.Errorf("got %q, %v, want one thing that does not hold, about NaN", lines[len(lines)-1], err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A verdict that nobody can read is none.
func TestEndThatCannotBeWritten(t *testing.T) {
	p := &proof{Verdict: verdict.New()}
	if p.End(full{}, p) {
		t.Error("everything holds, though it was not written")
	}
}
