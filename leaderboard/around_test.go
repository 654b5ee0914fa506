package leaderboard

import (
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/local"
)

func TestAround(t *testing.T) {
	board := boardOf(t, Options{Shards: 4})
	order := crowd(t, board, 30)
	for _, n := range []int{0, 1, 3, 29, 100} {
		for i, player := range order {
			got, err := board.Around(t.Context(), player, n)
			if err != nil {
				t.Fatal(err)
			}
			if want := order[max(0, i-n):min(len(order), i+n+1)]; !slices.Equal(players(got), want) {
				t.Fatalf("%d around %s: got %q, want %q", n, player, players(got), want)
			}
		}
	}
}

// Players with the same score, time and hash have the same place: they stand beside each other, in one order for all
// reads.
func TestAroundAmongEqualPlaces(t *testing.T) {
	client := local.Start(t).Client()
	board := named(t, open(t, client, Options{Shards: 4}), "galaxy")
	x, err := board.box()
	if err != nil {
		t.Fatal(err)
	}
	for i, player := range strings.Fields("a b c d e f g h i j") {
		item := submit(t, board, Submission{Player: player, At: day}).Entry
		c := x.change(Submission{Player: player, At: day})
		c.values[":place"] = number([]string{"30", "20", "20", "20", "20", "20", "20", "20", "20", "10"}[i])
		c.condition = "attribute_exists(#place)"
		if _, err := x.entries.Update(t.Context(), x.like(item.Player), c.edit); err != nil {
			t.Fatal(err)
		}
	}
	entries := top(t, board, 0)
	order := players(entries)
	if len(order) != 10 || order[0] != "a" || order[9] != "j" {
		t.Fatalf("got %q", order)
	}
	for i, player := range order {
		for n := range 11 {
			got, err := board.Around(t.Context(), player, n)
			if want := order[max(0, i-n):min(len(order), i+n+1)]; err != nil || !slices.Equal(players(got), want) {
				t.Fatalf("%d around %s: got %q, %v, want %q", n, player, players(got), err, want)
			}
		}
		if e, err := board.Rank(t.Context(), player); err != nil || e.Rank != entries[i].Rank {
			t.Errorf("rank of %s: %d, %v; Top says %d", player, e.Rank, err, entries[i].Rank)
		}
	}
	if entries[1].Rank != 2 || entries[8].Rank != 2 || entries[9].Rank != 10 {
		t.Errorf("got %q", lines(entries))
	}
}

// The index may not list a player who has just come or moved: the neighbours are right all the same, and nobody is
// there twice.
func TestBehind(t *testing.T) {
	at := func(player, place string) Entry { return Entry{Player: player, place: place} }
	self := at("self", "20")
	for _, c := range []struct {
		name    string
		read    []Entry
		below   bool
		want    string
		certain bool
	}{
		{"listed", []Entry{self, at("a", "10")}, true, "a", true},
		{"listed alone", []Entry{self}, true, "", true},
		{"nothing", nil, true, "", false},
		{"among equals", []Entry{at("a", "20"), self, at("b", "20"), at("c", "10")}, true, "b c", true},
		{"maybe further on", []Entry{at("a", "20"), at("b", "20")}, true, "a b", false},
		{"not listed, below", []Entry{at("a", "20"), at("b", "10")}, true, "a b", true},
		{"not listed, above", []Entry{at("a", "20"), at("b", "30")}, false, "b", true},
		{"not listed, above, maybe further on", []Entry{at("a", "20")}, false, "", false},
		{"listed where it was", []Entry{at("a", "15"), at("self", "10"), at("b", "5")}, true, "a b", true},
		{"both", []Entry{self, at("a", "15"), at("self", "10"), at("b", "5")}, true, "a b", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, certain := behind(c.read, self, c.below)
			if got := strings.Join(players(next), " "); got != c.want || certain != c.certain {
				t.Errorf("got %q, %v, want %q, %v", got, certain, c.want, c.certain)
			}
		})
	}
}
