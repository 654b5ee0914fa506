package token

import (
	"strings"
	"testing"
)

// Next cuts as DynamoDB does; NextWord leaves together what stands together.
func TestNext(t *testing.T) {
	for text, want := range map[string][2]string{
		"a1_b >= :v":      {"a1_b >= :v", "a1_b >= :v"},
		" SET #a=(:v-1) ": {"SET #a = ( :v - 1 )", "SET #a = ( :v - 1 )"},
		"_id":             {"_ id", "_id"},
		"2fa[01]":         {"2 fa [ 0 1 ]", "2fa [ 01 ]"},
		"größe.set":       {"gr ö ß e . set", "größe . set"},
		": v #":           {": v #", ": v #"},
		"a<>b<=c>=d":      {"a <> b <= c >= d", "a <> b <= c >= d"},
	} {
		for i, next := range []func(*Lexer) Token{(*Lexer).Next, (*Lexer).NextWord} {
			l := &Lexer{Text: text}
			var all []string
			for t := next(l); t.Kind != End; t = next(l) {
				all = append(all, text[t.Start:t.End])
			}
			if got := strings.Join(all, " "); got != want[i] {
				t.Errorf("%q: got %q, want %q", text, got, want[i])
			}
		}
	}
}

func TestKindOfWords(t *testing.T) {
	for text, want := range map[string]Kind{
		"pk": Name, "_pk": Name, "1pk": Name, "seté": Name, "#é": NameRef, "#a": NameRef, ":é": ValueRef, ":1": ValueRef,
		"Set": Set, "rEMOVE": Remove, "7": Index, "é": Stray,
	} {
		l := Lexer{Text: text}
		if got := l.NextWord(); got.Kind != want || got.End != len(text) {
			t.Errorf("%q: got %+v, want kind %d", text, got, want)
		}
	}
}
