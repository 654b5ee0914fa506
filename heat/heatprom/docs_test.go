package heatprom_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/heatsink-go/heatsink/heat/heatprom"
)

// docs/monitoring.md lists the metrics that there are, with their types, labels and help.
func TestPageListsTheMetrics(t *testing.T) {
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		if len(cells) == 5 && cells[0] != "" && strings.Contains(line, "table, index") {
			labels := strings.Split(cells[3], ", ")
			slices.Sort(labels)
			listed = append(listed, fmt.Sprintf("heatsink_heat_%s %s %s %s", cells[0], cells[2], labels, cells[4]))
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(t, refused, heatprom.Options{}))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	for _, f := range families {
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		exported = append(exported, fmt.Sprintf("%s %s %s %s", f.GetName(), strings.ToLower(f.GetType().String()), labels, f.GetHelp()))
	}
	slices.Sort(listed)
	slices.Sort(exported)
	if !slices.Equal(listed, exported) {
		t.Errorf("the page lists\n%s\nexported are\n%s", strings.Join(listed, "\n"), strings.Join(exported, "\n"))
	}
}
