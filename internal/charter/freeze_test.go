package charter

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

func frozen() Freeze {
	return Freeze{On: true, Why: "incident 7", By: "host-2/1", At: 1767323050000}
}

func TestFreezeIsNoPartOfTheLayout(t *testing.T) {
	plain := made(t, full())
	cold := edited(t, full(), func(c *Charter) { c.Frozen = frozen() })
	for _, err := range []error{Compare(plain, cold), Compare(cold, plain)} {
		if err != nil {
			t.Errorf("got %v", err)
		}
	}
	if got, want := cold.Frozen.String(), `frozen at 2026-01-02T03:04:10Z by "host-2/1": "incident 7"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := plain.Frozen.String(); got != "not frozen" {
		t.Errorf("got %s", got)
	}
}

// What is on is stored, and what is off leaves nothing behind.
func TestFreezeHasOneForm(t *testing.T) {
	off := Freeze{Why: "x", By: "y", At: 3}
	if got := edited(t, full(), func(c *Charter) { c.Frozen = off }); got.Frozen != (Freeze{}) {
		t.Errorf("got %+v", got.Frozen)
	}
	bad := made(t, full())
	bad.Frozen = off
	if err := bad.Validate(); !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), "Frozen is off") {
		t.Errorf("got %v", err)
	}
	long := edited(t, full(), func(c *Charter) { c.Frozen = Freeze{On: true, Why: strings.Repeat("x", ledger.MaxAudit+1)} })
	if len(long.Frozen.Why) != ledger.MaxAudit {
		t.Errorf("got %d bytes", len(long.Frozen.Why))
	}
}

// A freeze with a part missing is refused, not ignored.
func TestParseRefusesHalfAFreeze(t *testing.T) {
	base := edited(t, full(), func(c *Charter) { c.Frozen = frozen() })
	for _, name := range FreezeNames() {
		values := slices.DeleteFunc(base.Encode(), func(v ledger.Value) bool { return v.Name == name })
		if c, err := Parse(values); !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("without %s: got %+v, %v", name, c.Frozen, err)
		}
		if got := FreezeOf(values); !got.On {
			t.Errorf("without %s: the freeze is lost", name)
		}
	}
	if got := FreezeOf(base.Encode()); got != frozen() {
		t.Errorf("got %+v", got)
	}
	if got := FreezeOf(made(t, full()).Encode()); got != (Freeze{}) {
		t.Errorf("got %+v", got)
	}
}

func TestFrozenCharterIsReadAsWritten(t *testing.T) {
	want := edited(t, adaptive(), func(c *Charter) { c.Frozen = frozen() })
	if got, err := Parse(want.Encode()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
