package move

import (
	"strconv"
	"testing"
)

// Where there are too many suspects to remember, every key is one: nothing is moved by mistake.
func TestSuspectsAreBounded(t *testing.T) {
	var s suspects
	for i := range maxSuspects {
		s.add(strconv.Itoa(i))
	}
	if !s.has("7") || s.has("x") {
		t.Error("the suspects are not those that were added")
	}
	s.add("one more")
	if !s.has("7") || !s.has("x") || len(s.keys) != 0 {
		t.Error("a suspect was forgotten")
	}
	s.add("yet another")
	if !s.has("x") || len(s.keys) > 1 {
		t.Error("a suspect was forgotten")
	}
}
