package round

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Keys that are hidden do not show as the places at which partitions begin, nor as the keys of homes.
func TestRedactHidesPlaces(t *testing.T) {
	r := Round{
		Report: heat.Report{Resources: []heat.ResourceReport{{Writes: heat.Flow{Keys: []heat.KeyHeat{{Key: "alice"}}}}}},
		Partitions: []partitions.Heat{{
			Table: "t", Partitions: []partitions.Partition{{ID: 1, Lower: "b881616c696365"}, {ID: 2, Upper: "b881616c696365"}},
			Splits: []partitions.Split{{Point: "b881616c696365"}},
		}},
	}
	r.Locate(map[string]map[string]string{"t": {"alice": "b881616c696365"}})
	if len(r.Homes["t"]["alice"]) == 0 {
		t.Fatalf("got homes %v", r.Homes)
	}
	redact := heat.Hashed([]byte("secret"))
	r.Redact(redact)
	if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), "616c") || strings.Contains(string(text), "alice") {
		t.Errorf("got %s, %v", text, err)
	}
	if len(r.Homes["t"][string(redact(nil, []byte("alice")))]) == 0 || len(r.Homes["t"]) != 1 {
		t.Errorf("got homes %v", r.Homes)
	}
}

// A report learns which partition holds a key. It keeps what it knows, and a key that is in several has none.
func TestLocateTellsPartitions(t *testing.T) {
	r := Round{
		Report: heat.Report{Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "t"}, Writes: heat.Flow{Keys: []heat.KeyHeat{{Key: "alice"}, {Key: "known", Partition: "9"}, {Key: "split"}, {Key: "lost"}}},
		}}},
		Partitions: []partitions.Heat{{Table: "t", Partitions: []partitions.Partition{{ID: 1, Upper: "40"}, {ID: 2, Lower: "40", Upper: "8011"}, {ID: 3, Lower: "8011"}}}},
	}
	r.Locate(map[string]map[string]string{"t": {"alice": "30", "known": "50", "split": "80"}})
	var got []string
	for _, k := range r.Resources[0].Writes.Keys {
		got = append(got, k.Key+" in "+k.Partition)
	}
	if want := "alice in 1, known in 9, split in , lost in "; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}
