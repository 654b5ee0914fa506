package engine

import (
	"strings"
	"testing"
)

// AttributesToGet has 255 names at most.
func TestAttributesToGetAreBounded(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	get := func(n int) error {
		in := &GetItemInput{TableName: new("tab"), Key: fields("pk", "a"), HasKey: true}
		in.Legacy = &Legacy{}
		for i := range n {
			in.Legacy.AttributesToGet = append(in.Legacy.AttributesToGet, strings.Repeat("a", i+1))
		}
		return errorOf(e.GetItem(t.Context(), in))
	}
	noError(t, get(255))
	if err := get(256); err == nil || !strings.HasSuffix(err.Error(), "at 'attributesToGet' failed to satisfy constraint: Member must have length less than or equal to 255") {
		t.Errorf("256 names: got %v", err)
	}
}
