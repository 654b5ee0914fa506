package main

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

func TestBallot(t *testing.T) {
	text := func(message string) answer.Answer {
		return answer.Answer{Type: "ValidationException", Message: message}
	}
	for _, c := range []struct {
		name            string
		peers           []string // what they say; we say "a"
		outvotes, alone bool
	}{
		{"all agree", []string{"a", "a", "a"}, true, false},
		{"one differs", []string{"a", "a", "b"}, true, false},
		{"one is with us, two differ from each other", []string{"a", "b", "c"}, true, false},
		{"two against two", []string{"a", "b", "b"}, false, false},
		{"everybody else", []string{"b", "b", "b"}, false, true},
		{"nobody agrees", []string{"b", "c", "d"}, false, false},
		{"one peer", []string{"b"}, false, false},
	} {
		b := ballot{map[string]answer.Answer{"heatsink": text("a")}, answer.Text}
		for i, said := range c.peers {
			b.answers[string(rune('0'+i))] = text(said)
		}
		if got := b.outvotes(text("a")); got != c.outvotes {
			t.Errorf("%s: outvotes is %v", c.name, got)
		}
		if got := b.alone(text("a")); got != c.alone {
			t.Errorf("%s: alone is %v", c.name, got)
		}
	}
}
