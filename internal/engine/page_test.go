package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// An answer keeps its items until it is released, whatever is read meanwhile: also
// one with more items, and more bytes, than it can borrow memory for.
func TestAnswersShareNoMemory(t *testing.T) {
	e, name := openEngine(t, Options{}), "tab"
	createTable(t, e, newTableInput(name, "pk:S sk:N"))
	for pk, size := range map[string]int{"few": 10, "many": 10, "large": 3000} {
		for i := range 150 {
			if pk != "few" || i < 5 {
				putItem(t, e, name, fields("pk", pk, "sk", i, "text", strings.Repeat(pk[:1], size)))
			}
		}
	}
	read := func(pk string) *ReadOutput {
		t.Helper()

		in := &ReadInput{TableName: &name}
		in.KeyCondition = new("pk = :pk")
		in.Values, in.HasValues = fields(":pk", pk), true
		out, err := e.Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	clone := func(items []attr.Raw) (all []attr.Raw) {
		for _, raw := range items {
			all = append(all, slices.Clone(raw))
		}
		return all
	}
	for _, pk := range []string{"few", "many", "large"} {
		kept := read(pk)
		want := clone(kept.Items)
		for _, other := range []string{"large", "few", "many", "few"} {
			out := read(other)
			for _, raw := range out.Items {
				if got := raw.Get("pk").Str; got != other {
					t.Fatalf("a Query of %s found an item of %s", other, got)
				}
			}
			out.Release()
			out.Release() // the second time nothing is borrowed
		}
		if fmt.Sprint(kept.Items) != fmt.Sprint(want) {
			t.Errorf("the items of %s have changed while others were read", pk)
		}
		kept.Release()
		if kept.Items != nil {
			t.Error("a released answer still has items")
		}
	}
}
