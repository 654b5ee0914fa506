package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// readEvents reads the log of a member. The last line may be cut off. A log that is not there is empty.
func readEvents(file string) (events []fleetEvent, err error) {
	all, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(all) {
		var e fleetEvent
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// fleetAccount is what members told, and what follows from it about the items.
type fleetAccount struct {
	begun, acked, refused, failed, reads, lost int
	wrong                                      []string

	own    map[string]*truth
	sums   map[string]*bounds
	writes map[string]*attempts // of items that all writers write on a condition
}

// bounds are how often an item was added to.
type bounds struct{ acked, begun int }

// attempts are the writes of an item that all writers write, by the state that they take it to.
type attempts struct {
	acked   map[int][]string
	begun   map[int][]string // and not known to have failed
	refused bool
	latest  int // of those acknowledged
}

// fleetAccountOf adds up the logs of all members.
func fleetAccountOf(logs []string) (*fleetAccount, error) {
	a := &fleetAccount{own: map[string]*truth{}, sums: map[string]*bounds{}, writes: map[string]*attempts{}}
	for _, file := range logs {
		events, err := readEvents(file)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			a.take(e)
		}
	}
	return a, nil
}

func (a *fleetAccount) take(e fleetEvent) {
	switch e.Kind {
	case begunEvent:
		a.begun++
	case ackedEvent:
		a.acked++
	case refusedOne:
		a.refused++
	case failedEvent:
		a.failed++
	case readEvent:
		a.reads++
	case lostEvent:
		a.lost++
	case wrongEvent:
		a.wrong = append(a.wrong, e.Text)
	}
	if e.ID == "" {
		return
	}
	switch e.ID[0] {
	case checkedID, freeID, pairID:
		if a.own[e.ID] == nil {
			a.own[e.ID] = &truth{id: e.ID}
		}
		a.own[e.ID].heed(e)
	case sumID:
		if a.sums[e.ID] == nil {
			a.sums[e.ID] = &bounds{}
		}
		switch b := a.sums[e.ID]; e.Kind {
		case begunEvent:
			b.begun++
		case ackedEvent:
			b.acked++
		case failedEvent:
			b.begun--
		}
	case claimID, swapID:
		if a.writes[e.ID] == nil {
			a.writes[e.ID] = &attempts{acked: map[int][]string{}, begun: map[int][]string{}}
		}
		a.writes[e.ID].take(e)
	}
}

func (w *attempts) take(e fleetEvent) {
	drop := func() {
		for i, by := range w.begun[e.N] {
			if by == e.By {
				w.begun[e.N] = append(w.begun[e.N][:i:i], w.begun[e.N][i+1:]...)
				return
			}
		}
	}
	switch e.Kind {
	case begunEvent:
		w.begun[e.N] = append(w.begun[e.N], e.By)
	case ackedEvent:
		w.acked[e.N] = append(w.acked[e.N], e.By)
		w.latest = max(w.latest, e.N)
	case refusedOne:
		w.refused = true
		drop()
	case failedEvent:
		drop()
	}
}

// unfinished reports whether a program may have been killed while it created an item, so that it has left a mark and nothing else.
func (a *fleetAccount) unfinished(id string) bool {
	if t := a.own[id]; t != nil {
		now := *t
		return now.pending != 0 && now.absent()
	}
	if b := a.sums[id]; b != nil {
		return b.acked == 0 && b.begun > 0
	}
	w := a.writes[id]
	return w != nil && w.latest == 0 && len(w.begun[1]) > 0
}

// compare returns what is wrong with the items that are there at the end.
func (a *fleetAccount) compare(found map[string]heatsink.Item, statics int) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for id, item := range found {
		if _, bad := stateOf(item); bad != "" {
			say("%s: %s", id, bad)
		}
		switch {
		case id[0] == staticID, a.own[id] != nil, a.sums[id] != nil, a.writes[id] != nil:
		default:
			say("nobody wrote %s", id)
		}
	}
	for i := range statics {
		if n, bad := stateOf(found[staticName(i)]); n != 1 || bad != "" {
			say("%s was never changed: %s", staticName(i), bad)
		}
	}
	for id, t := range a.own {
		before := *t
		if item := found[id]; item == nil {
			if !t.absent() {
				say("%s is not there: acknowledged is %d, begun %d", id, before.at, before.pending)
			}
		} else if n, _ := stateOf(item); !t.is(n) || id[0] == freeID && gone(n) {
			say("%s is %d: acknowledged is %d, begun %d", id, n, before.at, before.pending)
		}
		if other := a.own[id[:len(id)-1]+"1"]; id[0] == pairID && id[len(id)-1] == '0' && other != nil {
			one, _ := stateOf(found[id])
			two, _ := stateOf(found[other.id])
			if one != two {
				say("half a transaction: %s is %d and %s is %d", id, one, other.id, two)
			}
		}
	}
	for id, b := range a.sums {
		if n, _ := stateOf(found[id]); n < b.acked || n > b.begun {
			say("%s is %d: %d additions were acknowledged, and %d begun", id, n, b.acked, b.begun)
		}
	}
	for id, w := range a.writes {
		wrong = append(wrong, w.compare(id, found[id])...)
	}
	return wrong
}

// compare returns what is wrong with an item that all writers wrote.
func (w *attempts) compare(id string, item heatsink.Item) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for n, by := range w.acked {
		if len(by) > 1 {
			say("%s: %q all took it to %d", id, by, n)
		}
	}
	n, by := 0, ""
	if item != nil {
		n, _ = stateOf(item)
		by = item["by"].(*types.AttributeValueMemberS).Value
	}
	if n < w.latest || w.refused && n == 0 {
		say("%s is %d: %d was acknowledged, refused is %v", id, n, w.latest, w.refused)
	}
	for step := 1; step <= n; step++ {
		if len(w.begun[step]) == 0 {
			say("%s is %d: all that took it to %d were told that they did not", id, n, step)
		}
	}
	if acked := w.acked[n]; n > 0 && len(acked) > 0 && acked[0] != by {
		say("%s is %d by %s: %s was told that it did that", id, n, by, acked[0])
	}
	return wrong
}
