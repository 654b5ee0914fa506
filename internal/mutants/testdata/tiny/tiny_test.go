package tiny

import "testing"

func TestLimit(t *testing.T) {
	if err := Limit(10); err != nil {
		t.Errorf("got %v for 10, want none", err)
	}
	if err := Limit(11); err == nil {
		t.Error("got no error for 11")
	}
}
