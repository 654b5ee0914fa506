package leaderboard

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// modelBoard is what a board must be equal to: entries by player, sorted when asked.
type modelBoard struct {
	mode    Mode
	entries map[string]modelEntry
	counted map[string]bool // player and ID
}

type modelEntry struct {
	player string
	score  int64
	at     time.Time
}

// submit is Submit as its documentation says. It returns whether the entry changed, and whether it is an overflow.
func (m *modelBoard) submit(s Submission) (changed, overflow bool) {
	old, ok := m.entries[s.Player]
	next := modelEntry{s.Player, s.Score, s.At}
	switch m.mode {
	case Best:
		changed = !ok || s.Score > old.score || s.Score == old.score && s.At.Before(old.at)
	case Latest:
		changed = !ok || !s.At.Before(old.at)
	case Sum:
		event := s.Player + " " + s.ID
		if s.ID != "" && m.counted[event] {
			return false, false
		}
		if ok {
			next.score += old.score
			if (s.Score > 0) != (next.score > old.score) && s.Score != 0 {
				return false, true
			}
		}
		if changed = !ok || s.Score != 0; changed && s.ID != "" {
			m.counted[event] = true
		}
	}
	if changed {
		m.entries[s.Player] = next
	}
	return changed, false
}

// order returns the entries as the board must.
func (m *modelBoard) order() []modelEntry {
	return slices.SortedFunc(maps.Values(m.entries), func(a, b modelEntry) int {
		return cmp.Or(
			cmp.Compare(b.score, a.score),
			cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()),
			cmp.Compare(hashOf(b.player), hashOf(a.player)),
		)
	})
}

// boardModel runs boards of every mode, by day and of all time, against the model.
type boardModel struct {
	boards map[string]Board // by name; see kinds
	model  map[string]*modelBoard
}

// kinds are the boards of the model: mode, and whether by day.
var kinds = map[string]Options{
	"best":         {Mode: Best},
	"latest":       {Mode: Latest},
	"sum":          {Mode: Sum},
	"best-daily":   {Mode: Best, Period: layout.Day},
	"latest-daily": {Mode: Latest, Period: layout.Day},
	"sum-daily":    {Mode: Sum, Period: layout.Day},
}

// newBoardModel returns empty boards, whose names have the number of the run in them.
func newBoardModel(t *rapid.T, client Client, run int) *boardModel {
	m := &boardModel{boards: make(map[string]Board), model: make(map[string]*modelBoard)}
	shards := rapid.IntRange(1, 3).Draw(t, "shards")
	for name, options := range kinds {
		options.Table, options.Shards = table, shards
		boards, err := Open(client, options)
		if err != nil {
			t.Fatal(err)
		}
		if m.boards[name], err = boards.Board(fmt.Sprint(name, " ", run)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// of returns a board at a time, and its model.
func (m *boardModel) of(name string, at time.Time) (Board, *modelBoard) {
	key, options := name, kinds[name]
	if options.Period != layout.NoBucket {
		key += at.Format("#2006-01-02")
	}
	if m.model[key] == nil {
		m.model[key] = &modelBoard{mode: options.Mode, entries: make(map[string]modelEntry), counted: make(map[string]bool)}
	}
	return m.boards[name].At(at), m.model[key]
}

var (
	modelScores = rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1}))
	modelTimes = rapid.Custom(func(t *rapid.T) time.Time {
		hours, halves := rapid.IntRange(0, 47).Draw(t, "hour"), rapid.IntRange(0, 2).Draw(t, "half-ms")
		return day.Add(time.Duration(hours)*time.Hour + time.Duration(halves)*500*time.Microsecond)
	})
	modelNames   = rapid.SampledFrom(slices.Sorted(maps.Keys(kinds)))
	modelPlayers = rapid.SampledFrom([]string{"ada", "bob", "cy#", "日本", "e", "f", "g", "h"})
	modelIDs     = rapid.SampledFrom([]string{"", "", "m1", "m2"})
)

func (m *boardModel) actions() map[string]func(*rapid.T) {
	ctx := context.Background()
	pick := func(t *rapid.T) (Board, *modelBoard) {
		return m.of(modelNames.Draw(t, "board"), modelTimes.Draw(t, "at"))
	}
	return map[string]func(*rapid.T){
		"Submit":  func(t *rapid.T) { m.submit(t) },
		"Submit2": func(t *rapid.T) { m.submit(t) }, // more often than the rest
		"Submit3": func(t *rapid.T) { m.submit(t) },
		"Remove": func(t *rapid.T) {
			board, model := pick(t)
			player := modelPlayers.Draw(t, "player")
			if err := board.Remove(ctx, player); err != nil {
				t.Fatal(err)
			}
			delete(model.entries, player)
		},
		"Reset": func(t *rapid.T) {
			board, model := pick(t)
			if n, err := board.Reset(ctx, nil); n != len(model.entries) || err != nil {
				t.Fatalf("reset %d, %v, want %d", n, err, len(model.entries))
			}
			clear(model.entries)
		},
		"Read": func(t *rapid.T) {
			board, model := pick(t)
			checkBoard(t, board, model, rapid.IntRange(2, 9).Draw(t, "n"))
		},
	}
}

func (m *boardModel) submit(t *rapid.T) {
	at := modelTimes.Draw(t, "at")
	board, model := m.of(modelNames.Draw(t, "board"), at)
	s := Submission{Player: modelPlayers.Draw(t, "player"), Score: modelScores.Draw(t, "score"), ID: modelIDs.Draw(t, "id")}
	s.At = at
	out, err := board.At(time.Time{}).Submit(context.Background(), s)
	changed, overflow := model.submit(s)
	if overflow {
		if err == nil {
			t.Fatalf("%+v did not overflow: %+v", s, out)
		}
		return
	}
	want := model.entries[s.Player]
	if err != nil || out.Changed != changed || out.Entry.Score != want.score || !want.at.IsZero() && !out.Entry.At.Equal(want.at) {
		t.Fatalf("%+v: got %+v, %v, want changed %v and %+v", s, out, err, changed, want)
	}
}

// checkBoard compares everything that can be read.
func checkBoard(t *rapid.T, board Board, model *modelBoard, n int) {
	ctx := context.Background()
	order := model.order()
	want := make([]string, len(order))
	for i, e := range order {
		want[i] = fmt.Sprintf("%s %d %s", e.player, e.score, e.at.Format(timeLayout))
	}
	show := func(entries ...Entry) []string {
		all := make([]string, len(entries))
		for i, e := range entries {
			all[i] = fmt.Sprintf("%s %d %s", e.Player, e.Score, e.At.Format(timeLayout))
		}
		return all
	}
	same := func(what string, got []Entry, want []string, err error) {
		if err != nil || !slices.Equal(show(got...), want) {
			t.Fatalf("%s: got %q, %v, want %q", what, show(got...), err, want)
		}
	}
	top, err := board.Top(ctx, n)
	same("top", top, want[:min(n, len(want))], err)
	var paged []Entry
	for token := ""; ; {
		page, err := board.Page(ctx, n, token)
		same("page", page.Entries, want[min(len(paged), len(want)):min(len(paged)+n, len(want))], err)
		paged = append(paged, page.Entries...)
		if token = page.Next; token == "" {
			break
		}
	}
	same("pages", paged, want, nil)
	rank := 0
	for e, err := range board.All(ctx) {
		same("all", []Entry{e}, want[rank:rank+1], err)
		if rank++; e.Rank != rank {
			t.Fatalf("all: rank %d, want %d", e.Rank, rank)
		}
	}
	if count, err := board.Count(ctx); count != len(want) || rank != len(want) || err != nil {
		t.Fatalf("count %d and %d, %v, want %d", count, rank, err, len(want))
	}
	if len(order) > 0 {
		i := rapid.IntRange(0, len(order)-1).Draw(t, "of")
		e := order[i]
		got, err := board.Rank(ctx, e.player)
		if same("rank", []Entry{got}, want[i:i+1], err); got.Rank != i+1 {
			t.Fatalf("rank of %s: %d, want %d", e.player, got.Rank, i+1)
		}
		around, err := board.Around(ctx, e.player, n)
		same("around", around, want[max(0, i-n):min(len(want), i+n+1)], err)
	}
}

// Random submissions in all modes, ties, removals and resets, on boards by day and of all time: Top, All, pages, Rank,
// Around and Count are what a sorted list says.
func TestBoardsEqualTheModel(t *testing.T) {
	client := local.Start(t).Client()
	if err := Setup(t.Context(), client, Options{Table: table}); err != nil {
		t.Fatal(err)
	}
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := newBoardModel(t, client, run)
		t.Repeat(m.actions())
		board, model := m.of(modelNames.Draw(t, "board"), modelTimes.Draw(t, "at"))
		checkBoard(t, board, model, 3)
	})
}
