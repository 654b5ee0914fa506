package adapt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// If nobody can tell whether the collection is frozen, no key grows: not by hand, and not by the law.
func TestNoGrowthWithoutTheCharter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		b.grow(t, "other", 2) // the process knows the charter
		client.Decide(func(r faulty.Request) faulty.Fault {
			if r.Operation == "GetItem" && r.Key("pk") == charterOfOrders {
				return faulty.Denied
			}
			return faulty.None
		})
		_, grown, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 8})
		if !errors.Is(err, ErrLedger) || grown || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("by hand: grown is %v, got %v, want ErrLedger and the reason", grown, err)
		}
		b.load("k", 2000, 30, nil)
		if stored := controlItems(t, client.Direct, "items"); slices.Contains(stored, "_hs#L#orders##k") {
			t.Errorf("stored: %q, want no ledger of the key", stored)
		}
		if text := b.logs.String(); !strings.Contains(text, "its growth could not be stored") || !strings.Contains(text, "AccessDenied") {
			t.Errorf("logged %q, want the reason", text)
		}
	})
}

// A freeze needs a charter. Without one nothing is stored, since a charter with a freeze alone would be a damaged one.
func TestFreezeWithoutACharter(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: Item{
		"pk": &types.AttributeValueMemberS{Value: charterOfOrders}, "sk": &types.AttributeValueMemberS{Value: "-"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Freeze(t.Context(), "incident 7"); !errors.Is(err, ErrLedger) {
		t.Errorf("got %v, want ErrLedger", err)
	}
	if stored := controlItems(t, client, "items"); len(stored) > 0 {
		t.Errorf("stored: %q, want nothing", stored)
	}
}
