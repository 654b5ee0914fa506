package leaderboard

import (
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink/local"
)

// filled returns a board with n players.
func filled(b *testing.B, options Options, n int) Board {
	b.Helper()
	board := named(b, open(b, local.Start(b).Client(), options), "galaxy")
	fill(b, board, n)
	return board
}

func BenchmarkSubmit(b *testing.B) {
	for name, next := range map[string]func(i int) int64{
		"better":     func(i int) int64 { return int64(10_000 + i) },
		"not-better": func(int) int64 { return -1 },
	} {
		b.Run(name, func(b *testing.B) {
			board := filled(b, Options{}, 1000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				submit(b, board, Submission{Player: fmt.Sprintf("player-%04d", i%1000), Score: next(i)})
			}
		})
	}
	for _, id := range []bool{false, true} {
		b.Run(fmt.Sprintf("sum/id=%v", id), func(b *testing.B) {
			board := filled(b, Options{Mode: Sum}, 0)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s := Submission{Player: fmt.Sprintf("player-%04d", i%1000), Score: 1}
				if id {
					s.ID = fmt.Sprint(i)
				}
				submit(b, board, s)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	board := filled(b, Options{}, 5000)
	for name, read := range map[string]func() error{
		"Top100":    func() error { _, err := board.Top(b.Context(), 100); return err },
		"Around5":   func() error { _, err := board.Around(b.Context(), "player-2500", 5); return err },
		"Rank":      func() error { _, err := board.Rank(b.Context(), "player-2500"); return err },
		"RankAbout": func() error { _, _, err := board.RankAbout(b.Context(), "player-2500"); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = place(-1234567, tie(day, "player-00001"))
	}
}
