package main

import "testing"

func TestRateLine(t *testing.T) {
	r := rates{Offered: 8000, Accepted: 1004, Refused: 6900, Throttles: 1075}
	plain, terminal := silent(), &screen{terminal: true}
	if got, want := r.line(plain, 2, "now"), "     2 s     8,000     1,004     6,900        1,075  █░░░░░░░ now"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := r.line(terminal, 2, ""), "     2 s     8,000     1,004     6,900        1,075  \x1b[32m█\x1b[0m\x1b[31m░░░░░░░\x1b[0m"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
