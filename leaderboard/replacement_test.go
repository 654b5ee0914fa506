package leaderboard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// permutations calls f with every order of n numbers.
func permutations(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rest func(k int)
	rest = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rest(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rest(0)
}

// In mode Best the entry, its time and its attributes are the same in every order of arrival, duplicates included: of
// equal scores, of the same millisecond, of the same nanosecond.
func TestBestIsTheSameInEveryOrder(t *testing.T) {
	word := func(name, value string) heatsink.Item { return heatsink.Item{name: text(value)} }
	tries := 0
	for name, submissions := range map[string][]Submission{
		"one millisecond": {
			{Score: 5, At: day.Add(300 * time.Microsecond), Attributes: word("car", "red")},
			{Score: 5, At: day.Add(700 * time.Microsecond), Attributes: word("car", "blue")},
			{Score: 5, At: day.Add(200 * time.Microsecond), Attributes: word("bike", "green")},
			{Score: 5, At: day.Add(200*time.Microsecond + 1)},
		},
		"one nanosecond": {
			{Score: 5, At: day, Attributes: word("car", "red")},
			{Score: 5, At: day, Attributes: word("car", "blue")},
			{Score: 5, At: day, Attributes: word("bike", "green")},
			{Score: 5, At: day},
		},
		"other scores": {
			{Score: 3, At: day, Attributes: word("car", "red")},
			{Score: 4, At: day.Add(time.Hour), Attributes: word("bike", "green")},
			{Score: 4, At: day.Add(time.Minute)},
			{Score: -4, At: day, Attributes: heatsink.Item{"car": text("blue"), "bike": text("blue")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			boards := boardOf(t, Options{}).boards
			arrivals := append(submissions, submissions[0], submissions[len(submissions)-1]) // two come twice
			var first *Entry
			run := 0
			twins := [][2]int{{0, len(arrivals) - 2}, {len(submissions) - 1, len(arrivals) - 1}}
			permutations(len(arrivals), func(order []int) {
				for _, twin := range twins { // which of them comes first makes no difference
					if slices.Index(order, twin[0]) > slices.Index(order, twin[1]) {
						return
					}
				}
				run++
				board := named(t, boards, fmt.Sprint("board ", run))
				for _, i := range order {
					s := arrivals[i]
					s.Player = "ada"
					submit(t, board, s)
				}
				got, err := board.Get(t.Context(), "ada")
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = &got
				}
				if !reflect.DeepEqual(got, *first) {
					t.Fatalf("in order %v: got %+v, want %+v", order, got, *first)
				}
			})
			tries += run
		})
	}
	t.Logf("%d orders of arrival", tries)
}

// What another submission brought along goes with its score.
func TestAttributesGoWithTheirScore(t *testing.T) {
	for _, mode := range []Mode{Best, Latest} {
		board := boardOf(t, Options{Mode: mode})
		submit(t, board, Submission{Player: "ada", Score: 1, At: day, Attributes: heatsink.Item{"car": text("red")}})
		out := submit(t, board, Submission{Player: "ada", Score: 2, At: day.Add(time.Hour), Attributes: heatsink.Item{"bike": text("blue")}})
		got, err := board.Get(t.Context(), "ada")
		if names := slices.Sorted(maps.Keys(got.Attributes)); err != nil || !slices.Equal(names, []string{"bike"}) || len(out.Entry.Attributes) != 1 {
			t.Errorf("%v: got %+v, %v, want the attributes of the score that stands", mode, got, err)
		}
	}
}

// Attributes that differ in anything have another hash; the order of a set is nothing.
func TestHashAttributes(t *testing.T) {
	list := func(v ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: v} }
	items := []heatsink.Item{
		{},
		{"a": text("1")},
		{"a": number("1")},
		{"a": &types.AttributeValueMemberB{Value: []byte("1")}},
		{"a": &types.AttributeValueMemberBOOL{Value: true}},
		{"a": &types.AttributeValueMemberBOOL{}},
		{"a": &types.AttributeValueMemberNULL{Value: true}},
		{"a": &types.AttributeValueMemberSS{Value: []string{"1", "2"}}},
		{"a": &types.AttributeValueMemberNS{Value: []string{"1", "2"}}},
		{"a": &types.AttributeValueMemberBS{Value: [][]byte{{'1'}, {'2'}}}},
		{"a": list(text("1"), text("2"))},
		{"a": list(text("2"), text("1"))},
		{"a": list(text("12"))},
		{"a": list(list(text("1")), text("2"))},
		{"a": &types.AttributeValueMemberM{Value: heatsink.Item{"a": text("1")}}},
		{"a": text("1"), "b": text("1")},
		{"ab": text("1")},
		{"a": text("b1")},
	}
	seen := map[string]heatsink.Item{}
	for _, item := range items {
		hash := hashAttributes(item)
		if other, ok := seen[hash]; ok || len(hash) != 16 {
			t.Errorf("%v has the hash %q of %v", item, hash, other)
		}
		seen[hash] = item
	}
	set := func(values ...string) heatsink.Item {
		return heatsink.Item{"a": &types.AttributeValueMemberSS{Value: values}}
	}
	if hashAttributes(set("x", "y")) != hashAttributes(set("y", "x")) {
		t.Error("the order of a set changes the hash")
	}
}

// After a lost answer the submission has changed the entry if the entry is equal to it, not if it is another's of the
// same millisecond.
func TestLostAnswerOfTheSameMillisecond(t *testing.T) {
	for _, c := range []struct {
		fault   faulty.Fault
		other   Submission
		changed bool
	}{
		{faulty.LostAnswer, Submission{Player: "bob", Score: 1, At: day}, true},
		{faulty.LostRequest, Submission{Player: "ada", Score: 5, At: day, Attributes: heatsink.Item{"car": text("red")}}, false},
		{faulty.LostRequest, Submission{Player: "ada", Score: 6, At: day}, false},
	} {
		bubble.Test(t, func(t *testing.T) {
			client := local.Start(t).Client()
			others := named(t, open(t, client, Options{Ahead: -1}), "galaxy")
			flaky := faulty.On(t, client, faulty.Script(c.fault))
			board := named(t, open(t, flaky, Options{Ahead: -1, Retry: heatsink.Retry{Base: time.Hour, Max: time.Hour}}), "galaxy")
			var all sync.WaitGroup
			all.Go(func() {
				out, err := board.Submit(t.Context(), Submission{Player: "ada", Score: 5, At: day.Add(time.Microsecond)})
				if err != nil || out.Changed != c.changed {
					t.Errorf("%v, then %+v: got %+v, %v, want changed %v", c.fault, c.other, out, err, c.changed)
				}
			})
			synctest.Wait()
			submit(t, others, c.other)
			all.Wait()
		})
	}
}
