package counter

import (
	"os"
	"strings"
	"testing"
)

// The page about this package has its table as the code creates it.
func TestDocsHaveTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes/counter.md")
	if err != nil {
		t.Fatal(err)
	}
	table := Options{Table: "counters"}.withDefaults().table()
	for name, want := range map[string]string{
		"CloudFormation": "```yaml\n" + table.CloudFormation() + "```\n",
		"Terraform":      "```hcl\n" + table.Terraform() + "```\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/recipes/counter.md does not have the table for %s:\n%s", name, want)
		}
	}
}
