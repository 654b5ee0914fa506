package counter

import (
	"errors"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
)

func TestSetup(t *testing.T) {
	db := local.Start(t)
	client := db.Client()
	if err := db.CreateTable(t.Context(), "others", "id", "at:N"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // creates it, then finds it
		if err := Setup(t.Context(), client, Options{Table: "counters", PartitionKey: "id", SortKey: "part"}); err != nil {
			t.Error(err)
		}
	}
	c, err := Open(client, Options{Table: "counters", PartitionKey: "id", SortKey: "part"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	mustAdd(t, c, "VIEWS", 3)
	isTotal(t, c, "VIEWS", 3)

	err = Setup(t.Context(), client, Options{Table: "others"})
	if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "its key is (id S, at N), want (pk S, sk S)") {
		t.Errorf("got %v", err)
	}
	if err := Setup(t.Context(), client, Options{}); !errors.Is(err, heatsink.ErrOptions) {
		t.Errorf("got %v", err)
	}
	if err := SetupTally(t.Context(), client, TallyOptions{Table: "others"}); !errors.Is(err, ErrTable) {
		t.Errorf("got %v", err)
	}
	if err := SetupTally(t.Context(), client, TallyOptions{}); !errors.Is(err, heatsink.ErrOptions) {
		t.Errorf("got %v", err)
	}
}
