package sim

import (
	"errors"
	"strings"
	"testing"
)

func TestWriteFidelity(t *testing.T) {
	scenarios := []Scenario{
		{1, "First", func() []Finding {
			return []Finding{{"a|b", "1", "AWS", "2", true}, {"c", "3", "paper", "4", true}}
		}},
		{2, "Second", func() []Finding { return []Finding{{"d", "5", "blog", "6", true}} }},
	}
	var b strings.Builder
	ok, err := WriteFidelity(&b, scenarios)
	want := `| # | scenario | published | source | ours | |
|---|---|---|---|---|---|
| 1 | **First**: a\|b | 1 | AWS | 2 | ✓ |
|  | c | 3 | paper | 4 | ✓ |
| 2 | **Second**: d | 5 | blog | 6 | ✓ |
`
	if b.String() != want || !ok || err != nil {
		t.Errorf("got %v, %v,\n%s\nwant\n%s", ok, err, b.String(), want)
	}
	scenarios = append(scenarios, Scenario{3, "Third", func() []Finding { return []Finding{{Case: "e"}} }})
	if ok, _ := WriteFidelity(&b, scenarios); ok || !strings.Contains(b.String(), "✗") {
		t.Error("a figure that is off is not reported")
	}
	if _, err := WriteFidelity(broken{}, scenarios); err == nil {
		t.Error("a failed write is not reported")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }
