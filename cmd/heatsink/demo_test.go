package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// The command as it is, in real time: the machine may be as busy as it likes, so rates are only held against what the
// physics cannot exceed.
func TestDemoQuickJSON(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := command(t, "demo", "--quick", "--json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	var got demoReport
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if decoder.More() {
		t.Errorf("there is more than one document in %s", stdout)
	}
	if !got.Quick || got.Target != 8000 || got.PutUnits != 8 || got.Measured != 1 || len(got.Acts) != 4 {
		t.Errorf("got %+v", got)
	}
	for _, a := range got.Acts {
		if a.Acknowledged == 0 || a.Read != a.Acknowledged || a.Counted != a.Acknowledged {
			t.Errorf("%s: %d acknowledged, %d read, %d counted", a.Name, a.Acknowledged, a.Read, a.Counted)
		}
		// What a partition saved when idle and what it may owe in the end come on top.
		most := float64(a.Occupied) * (1000*got.Elapsed + 210)
		if units := float64(a.Acknowledged * got.PutUnits); units > most {
			t.Errorf("%s: %.0f write units were accepted within %.1f s, of %.0f", a.Name, units, got.Elapsed, most)
		}
		if a.CountRequests < a.Shards || a.PlanRequests != a.Shards || a.CountReadUnits == 0 || len(a.Seconds) == 0 {
			t.Errorf("%s: got %+v", a.Name, a)
		}
	}
}

// virtual runs the demo in a bubble, where time passes evenly and figures are exact.
func virtual(t *testing.T, show *screen, l load) (report demoReport) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		d := &demo{screen: show, load: l, key: demoKey}
		if err := d.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		report = d.report
	})
	return report
}

func TestDemoInVirtualTime(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	got := virtual(t, newScreen(&out), load{perSecond: 500, units: 16, runIn: time.Second, measured: 2 * time.Second})
	want := []struct {
		name                          string
		shards, partitions, occupied  int
		accepted, tolerance, unserved float64
		seconds                       int
	}{
		{"one-key", 1, 4, 1, 1000, 0.02, 7000, 3},
		{"many-partitions", 10, 40, 9, 8000, 0.02, 0, 3},
		{"four-partitions", 10, 4, 4, 4000, 0.03, 4000, 3},
		{"adaptive", 32, 40, 25, 8000, 0.02, 0, 9},
	}
	for i, w := range want {
		a := got.Acts[i]
		if a.Name != w.name || a.Shards != w.shards || a.Partitions != w.partitions || a.Occupied != w.occupied {
			t.Errorf("got %+v, want %+v", a, w)
		}
		if !near(a.Offered, 8000, 0.01) || !near(a.Accepted, w.accepted, w.tolerance) || math.Abs(a.Refused-w.unserved) > 0.03*8000 {
			t.Errorf("%s: offered %v, accepted %v, refused %v, want 8000, %v, %v", w.name, a.Offered, a.Accepted, a.Refused, w.accepted, w.unserved)
		}
		if a.Read != a.Acknowledged || a.Counted != a.Acknowledged || len(a.Seconds) != w.seconds || a.PageToken == 0 || a.PageToken > 120 {
			t.Errorf("%s: got %+v", w.name, a)
		}
	}
	for _, want := range []string{
		"Act 3: the same ten shards",
		"heatsink grows the key from 1 shard to 32: ",
		"The 32 shards are on 25 of them",
		"missing: 0, doubled: 0",
		"Partitions: 4. The key is on one of them.",
		"Partitions: 40. The 10 shards are on 9 of them (expected: 8.9); 2 share a partition.",
		"all present, each once, in order",
		"Plan:  10 shards, so at least 10 requests",
		"ten shards    9 of 40 ",
		"Shards are not partitions",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\r") {
		t.Error("there are escape codes without a terminal")
	}
	compareDemoTable(t, got.Acts)
	compareDemoExcerpt(t, out.String())
	cold, grown := got.Acts[3].Seconds[0], got.Acts[3].Seconds[8]
	if cold.Width != 1 || cold.Offered > 1000 || cold.Throttles > 0 || grown.Width != 32 || !near(grown.Accepted, 8000, 0.02) || grown.Throttles > 10 { // of 500 puts: two shards may share a partition
		t.Errorf("the key that grows: first %+v, last %+v", cold, grown)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(line)); n > 90 {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func near(got, want, tolerance float64) bool {
	return got >= want*(1-tolerance) && got <= want*(1+tolerance)
}

// A row of the design: accepted writes on the local engine are 1,000 ± 2 % WCU/s with one key and at least
// 0.97 × 1,000 × N with N shards on enough partitions, that is, if each has its own.
func TestShardedWritesReachTheirPartitions(t *testing.T) {
	t.Parallel()
	overload := load{perSecond: 500, units: 24, runIn: time.Second, measured: 3 * time.Second}
	for _, c := range []struct {
		name     string
		act      act
		key      string
		occupied int
		least    float64
		most     float64
	}{
		{"one key", acts[0], demoKey, 1, 980, 1020},
		{"ten shards that have ten partitions", acts[1], "STATUS", 10, 9700, 10_200},
		{"ten shards of which two share one", acts[1], demoKey, 9, 0.97 * 9000, 9180},
		{"ten shards on four partitions", acts[2], demoKey, 4, 0.97 * 4000, 4080},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble.Test(t, func(t *testing.T) {
				ctx := context.Background()
				s, err := c.act.open(ctx, c.key, overload.units)
				if err != nil {
					t.Fatal(err)
				}
				defer s.db.Close()
				got, err := s.write(ctx, overload, silent())
				if err != nil {
					t.Fatal(err)
				}
				if s.spread.occupied() != c.occupied {
					t.Errorf("the shards are on %d partitions, want %d: %v", s.spread.occupied(), c.occupied, s.spread)
				}
				if a := got.measured.Accepted; a < c.least || a > c.most || !near(got.measured.Offered, 12_000, 0.01) {
					t.Errorf("accepted %v of %v WCU/s, want %v to %v of 12000", a, got.measured.Offered, c.least, c.most)
				}
			})
		})
	}
}

// Ctrl-C in the middle of an act.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(1500*time.Millisecond, cancel)
		start := time.Now()
		d := &demo{screen: silent(), load: fullLoad, key: demoKey}
		if err := d.run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", err)
		}
		if took := time.Since(start); took > 1600*time.Millisecond {
			t.Errorf("it went on for %v", took-1500*time.Millisecond)
		}
	})
}

// Trouble that is no throttling ends the act with an error that is not taken for an interrupt.
func TestDemoTrouble(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s, err := acts[0].open(ctx, demoKey, 8)
		if err != nil {
			t.Fatal(err)
		}
		defer s.db.Close()
		time.AfterFunc(time.Second, func() {
			if _, err := s.db.Client().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(demoTable)}); err != nil {
				t.Error(err)
			}
		})
		_, err = s.write(ctx, fullLoad, silent())
		if !errors.As(err, new(*types.ResourceNotFoundException)) || errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the table is not there", err)
		}
	})
}

func TestDemoMistakes(t *testing.T) {
	for _, c := range []struct{ flag, want string }{
		{"--quick=perhaps", `invalid argument "perhaps"`},
		{"--fast", "unknown flag: --fast"},
	} {
		stdout, stderr, code := command(t, "demo", c.flag)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.flag, code, stdout, stderr)
		}
	}
}

// The help documents every name of the JSON.
func TestDemoHelpNamesTheFields(t *testing.T) {
	stdout, _, _ := command(t, "demo", "--help")
	text, err := json.Marshal(demoReport{Acts: []actReport{{Seconds: []rates{{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(stdout, found[1]) {
			t.Errorf("%q is not in the help", found[1])
		}
	}
}

func TestDemoMeaning(t *testing.T) {
	r := demoReport{Target: 8000, Acts: []actReport{
		{rates: rates{Offered: 8000, Accepted: 1000, Refused: 7000}},
		{rates: rates{Offered: 6000, Accepted: 5900, Refused: 100}},
		{rates: rates{Offered: 8000, Accepted: 4000}, Partitions: 4},
		{rates: rates{Offered: 7900, Accepted: 7800}, Shards: 16},
	}}
	got := strings.Join(r.meaning(), "\n")
	for _, want := range []string{"5.9 times", "Refused: 1.7 %.", "with 4 partitions", "At 16 it accepted 7,800 WCU/s", "could not hold the rate of the load: it offered 8,000, 6,000, 8,000\nand 7,900 WCU/s, where 8,000 were wanted"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	r.Acts[1].rates = rates{Offered: 8000, Accepted: 8000}
	if got := fmt.Sprint(r.meaning()); !strings.Contains(got, "Refused: none.") || strings.Contains(got, "could not hold") {
		t.Errorf("got %s", got)
	}
	for offered, complains := range map[float64]bool{9542: false, 8248: false, 7600: false, 7599: true} { // more is offered to catch up
		r.Acts[0].Offered = offered
		if got := fmt.Sprint(r.meaning()); strings.Contains(got, "could not hold the rate") != complains {
			t.Errorf("%v offered: got %s", offered, got)
		}
	}
}
