package ledger

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The numbers of the law in docs/adaptive.md are the defaults.
func TestLawIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/adaptive.md")
	if err != nil {
		t.Fatal(err)
	}
	o, err := LawOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for rule, number := range map[string]string{
		"a key is reported if this process offers it at least": fmt.Sprintf("%v WCU/s, or it is throttled", o.Report),
		"time between two reports of a key":                    fmt.Sprintf("%v; %v while it is throttled, %s times", seconds(o.Tick), seconds(o.Alert), words[o.Alerts]),
		"a key grows above":                                    fmt.Sprintf("%v WCU/s for each shard", o.High),
		"or if its partitions throttle more than":              fmt.Sprintf("%v %% of its units", 100*o.Throttled),
		"or more than, in the mean of four reports":            fmt.Sprintf("%v %% of its units", 100*o.Uneasy),
		"reports that must agree":                              fmt.Sprintf("%d, and up to %d while the rate still rises", o.Reports, 2*o.Reports),
		"a shard is to take after growth":                      fmt.Sprintf("%v WCU/s, with room for %v × the rate", o.Target, o.Headroom),
		"time between two growths of a key":                    seconds(o.Cooldown),
		"growths of one process, of all keys":                  fmt.Sprintf("%d a minute", o.PerMinute),
		"largest width":                                        fmt.Sprintf("%d shards, %d,%03d at most", o.MaxWidth, HardWidth/1000, HardWidth%1000),
		"growth is futile if a throttled shard has less than":  fmt.Sprintf("%v WCU/s, in %d reports", o.Futile, o.Reports),
		"and no longer, from":                                  fmt.Sprintf("%v WCU/s on, or after %d calm reports", rising*o.Futile, o.Reports),
	} {
		if row := fmt.Sprintf("| %s | %s | ", rule, number); !strings.Contains(string(page), row) {
			t.Errorf("docs/adaptive.md has no row %q", row)
		}
	}
}

var words = map[int]string{5: "five"}

func seconds(d time.Duration) string { return fmt.Sprintf("%v s", d.Seconds()) }
