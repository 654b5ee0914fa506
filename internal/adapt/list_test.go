package adapt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// small makes a scan return pages of two items.
type small struct{ *faulty.Client }

func (s small) Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	copied := *in
	copied.Limit = aws.Int32(2)
	return s.Client.Scan(ctx, &copied, opts...)
}

// All lists each ledger once, over all pages, with an error in place of what cannot be understood.
func TestListOfLedgers(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	var want []string
	for i := range 9 {
		b.grow(t, fmt.Sprint("k#", i), 2+i)
		want = append(want, fmt.Sprintf("k#%d: %d", i, 2+i))
	}
	overwrite(t, client.Direct, "_hs#L#orders##k#4", "_hs_R", &types.AttributeValueMemberS{Value: "?"})
	want[4] = "k#4: broken"
	var got []string
	for f, err := range b.All(t.Context(), small{client}) {
		switch {
		case errors.Is(err, ErrLedger):
			got = append(got, f.Key.Text+": broken")
		case err != nil:
			t.Error(err)
		default:
			got = append(got, fmt.Sprintf("%s: %d", f.Key.Text, f.Record.Read))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	sent := client.Count("Scan")
	for range b.All(t.Context(), small{client}) {
		break
	}
	if n := client.Count("Scan") - sent; n > 5 {
		t.Errorf("%d scans after the loop was left", n)
	}
	client.Decide(faulty.Always(faulty.Denied).Of("Scan"))
	n := 0
	for _, err := range b.All(t.Context(), small{client}) {
		if n++; err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("got %v, want the reason", err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors, want one", n)
	}
}

// A ledger of another kind of layout is an error in its place: this process cannot know its bucket.
func TestListOfAnotherLayout(t *testing.T) {
	client := start(t)
	newBook(t, client).grow(t, "k", 2)
	drop(t, client, charterOfOrders)
	for f, err := range newBook(t, client, byDay).All(t.Context(), client) {
		if !errors.Is(err, ErrLedger) || f.Key.Text != "k" {
			t.Errorf("got %+v, %v, want ErrLedger for k", f, err)
		}
	}
}

// Repair writes what the shards show, and the process that lost the ledger goes on.
func TestRepair(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	b.grow(t, "k", 4)
	b.grow(t, "k", 8)
	drop(t, client, "_hs#L#orders##k")
	if _, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Strong}); !errors.Is(err, ledger.ErrLost) {
		t.Fatalf("got %v, want ErrLost", err)
	}
	fresh := newBook(t, client)
	asked := 0
	probe := func(_ context.Context, to int) (int, int64, error) { asked = to; return 5, 2, nil }
	r, written, err := fresh.Repair(t.Context(), "k", none, ledger.Repairing{To: 16, Why: "it was deleted"}, probe)
	if err != nil || !written || r.Read != 8 || r.Generation != 3 || r.Why != "it was deleted" || asked != 16 {
		t.Errorf("got %+v, %v, %v after a probe of %d, want 8 shards at generation 3", r, written, err, asked)
	}
	if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Strong}); n != 8 || err != nil {
		t.Errorf("the process that noticed the loss: got %d, %v, want 8", n, err)
	}
}

// Nothing is written if there is nothing to repair, and if the probe fails or what is stored is not understood.
func TestRepairThatWritesNothing(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	nothing := func(context.Context, int) (int, int64, error) { return 0, 0, nil }
	if r, written, err := b.Repair(t.Context(), "cold", none, ledger.Repairing{}, nothing); err != nil || written || r.Read != 1 {
		t.Errorf("a cold key: got %+v, %v, %v", r, written, err)
	}
	failed := errors.New("the probe failed")
	if _, written, err := b.Repair(t.Context(), "cold", none, ledger.Repairing{}, func(context.Context, int) (int, int64, error) { return -1, 0, failed }); !errors.Is(err, failed) || written {
		t.Errorf("got %v, %v, want the error of the probe", written, err)
	}
	if got := controlItems(t, client, "items"); len(got) != 1 {
		t.Errorf("stored: %q, want the charter alone", got)
	}
	b.grow(t, "k", 4)
	overwrite(t, client, "_hs#L#orders##k", "_hs_R", &types.AttributeValueMemberS{Value: "?"})
	if _, written, err := newBook(t, client).Repair(t.Context(), "k", none, ledger.Repairing{}, nothing); !errors.Is(err, ErrLedger) || written || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("garbage: got %v, %v, want to be told to delete it", written, err)
	}
}
