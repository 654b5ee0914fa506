package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, args...)...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("go test %s: %w:\n%s", strings.Join(args, " "), err, last(string(out), 20))
	}
	if strings.Contains(string(out), "no tests to run") {
		return string(out), fmt.Errorf("go test %s: there is no such test", strings.Join(args, " "))
	}
	return string(out), nil
}

func last(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// test is a measurement by tests of a package: it holds, or fails.
func test(pkg, names string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := goTest(ctx, pkg, "-v", "-run", "^("+names+")$")
		if err == nil && !strings.Contains(out, "--- PASS") {
			err = fmt.Errorf("no test %s in %s", names, pkg)
		}
		if err != nil {
			return "", err
		}
		return "holds", nil
	}
}

// cells runs the table of docs/layouts.md and the rolling change.
func (p *proof) cells(ctx context.Context) {
	p.heading("the table of docs/layouts.md, each cell a test, and a rolling change from 4 to 16 shards")
	if page, err := os.ReadFile("docs/layouts.md"); err == nil {
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "| random ") || strings.HasPrefix(line, "| calculated ") || strings.HasPrefix(line, "| strategy ") {
				fmt.Fprint(p.out, line)
			}
		}
	}
	out, err := goTest(ctx, ".", "-v", "-run", "^(TestLayoutTable|TestRollingChange)$")
	p.Check(err == nil, "docs/layouts.md: %v", err)
	for _, line := range regexp.MustCompile(`(layout table|rolling change): .*`).FindAllString(out, -1) {
		fmt.Fprintln(p.out, line)
	}
	if found := regexp.MustCompile(`layout table: (\d+) cells hold`).FindStringSubmatch(out); found != nil {
		p.Cells, _ = strconv.Atoi(found[1])
	}
	p.Check(p.Cells == 168, "docs/layouts.md: %d of 168 cells hold", p.Cells)
	rolls := regexp.MustCompile(`documented (\d+) of`).FindAllStringSubmatch(out, -1)
	p.Check(len(rolls) == 2, "the rolling change was shown %d times, want 2", len(rolls))
	for _, roll := range rolls {
		p.Check(roll[1] == "0", "rolling change: %s reads missed something", roll[1])
	}
}

// attack is a way of trying to make the library wrong.
type attack struct {
	name  string
	args  func(inputs int) []string
	share int    // of the inputs: one in so many
	found string // in the session that wrote it, mended since
}

var secondRound = []attack{
	{
		"random settings and odd keys, operations against a model", rapidTest("TestAnySettings"), 1,
		"a key that an Older layout refuses was written and could not be read",
	},
	{
		"late, lost and repeated answers with Version, against a model", rapidTest("TestVersionModel"), 20,
		"two writes of one process within a nanosecond could be taken for a conflict",
	},
	{
		"random update expressions, then Get and Query", rapidTest("TestUpdatedItemsAreFound"), 20,
		"an index without its sort key stored items that it did not list",
	},
	{
		"tokens while layouts grow, with buckets and Older", rapidTest("TestTokenOutlivesSharding"), 20,
		"an Older shard that growth made the layout's own lost items",
	},
	{"forged page tokens", fuzz("FuzzForgedToken"), 1, ""},
	{"damaged page tokens", fuzz("FuzzParseToken"), 1, ""},
}

func rapidTest(names string) func(int) []string {
	return func(n int) []string {
		return []string{".", "-run", "^(" + names + ")$", "-timeout", "60m", "-rapid.checks", strconv.Itoa(n), "-rapid.nofailfile"}
	}
}

func fuzz(name string) func(int) []string {
	return func(n int) []string {
		return []string{".", "-run", "^$", "-fuzz", "^" + name + "$", "-fuzztime", strconv.Itoa(n) + "x", "-timeout", "60m"}
	}
}

// attacks runs the second round of attacks.
func (p *proof) attacks(ctx context.Context, inputs int) {
	p.heading("a second round of attacks")
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "attack\tinputs\tfindings now\tfound while it was written, and mended")
	p.Attacks = map[string]int{}
	for _, a := range secondRound {
		n := max(inputs/a.share, 100)
		progress("%s: %d inputs", a.name, n)
		_, err := goTest(ctx, a.args(n)...)
		p.Check(err == nil, "%s: %v", a.name, err)
		verdict := "none"
		if err != nil {
			verdict = "some: see below"
		}
		p.Attacks[a.name] = n
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", a.name, n, verdict, a.found)
	}
	w.Flush()
}

// rows breaks every row of docs/requirements.md and sees its named tests fail.
func (p *proof) rows(ctx context.Context) {
	p.heading("every row of docs/requirements.md broken by a line, with the tests that it names")
	b, err := scenario.Break(ctx, "-rows")
	p.Check(err == nil, "rows: %v", err)
	p.Check(b.Caught == b.Breaks && len(b.Missed) == 0 && b.Breaks > 0, "rows: %d of %d breaks caught; missed: %s", b.Caught, b.Breaks, strings.Join(b.Missed, ", "))
	fmt.Fprintf(p.out, "%d rows, %d breaks, %d caught\n", b.Rows, b.Breaks, b.Caught)
	p.Rows = &b
}

// public are the packages that users import.
var public = []string{".", "./counter", "./leaderboard", "./ratelimit", "./session", "./eventlog", "./heat", "./heat/heatcloudwatch", "./heat/heatprom", "./heat/heatotel", "./plan", "./keys", "./local"}

// packages breaks each public package at random.
func (p *proof) packages(ctx context.Context, n int) {
	p.heading(fmt.Sprintf("%d random breaks of each public package", n))
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "package\tbreaks\tcaught\tshare")
	for _, pkg := range public {
		b, err := scenario.Break(ctx, "-pkg", pkg, "-n", strconv.Itoa(n))
		p.Check(err == nil, "%s: %v", pkg, err)
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f %%\n", pkg, b.Breaks, b.Caught, b.Share())
		p.Packages = append(p.Packages, b)
	}
	w.Flush()
	for _, b := range p.Packages {
		b.List(p.out)
	}
}

// progress tells people that something is going on.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
