package plan

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// String returns what WriteText writes.
func (p *Plan) String() string {
	var b strings.Builder
	_ = p.WriteText(&b) // a Builder takes everything
	return b.String()
}

// WriteText writes the plan as text for people, with lines of up to 110 characters.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", p.Verdict)
	p.writeNumbers(&b)
	p.writeWays(&b)
	list(&b, "Why", p.Reasons)
	if len(p.Notes) > 0 {
		b.WriteString("\nNotes\n")
		for _, n := range p.Notes {
			b.WriteString(wrapped(fmt.Sprintf("  %-8s  ", n.Severity), n.Code+": "+n.Text))
		}
	}
	list(&b, "What it costs", p.Costs)
	list(&b, "Cheaper reads", p.Hints)
	p.writeFormulas(&b)
	if p.Snippet != "" {
		fmt.Fprintf(&b, "\nIn Go\n\n%s", indented(p.Snippet))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxBrief is how many lines WriteBrief writes at most.
const maxBrief = 18

// WriteBrief writes the decision, the reasons and the snippet, in fewer than 19 lines of up to 110 characters. Warnings and
// critical notes follow: in full where there is room, otherwise in a few words each. WriteText writes everything.
func (p *Plan) WriteBrief(w io.Writer) error {
	b := brief{left: maxBrief}
	b.must(wrapped("", p.Verdict))
	var after brief
	if p.Snippet != "" {
		after.must("\n" + p.Snippet)
	}
	var notes []Note // the most severe come first
	for _, n := range p.Notes {
		if n.Severity >= Warning && n.Code != inSnippet {
			notes = append(notes, n)
		}
	}
	if len(notes) > 0 {
		after.must("\n" + inShort(notes))
	}
	b.left += after.left
	for _, reason := range p.Reasons {
		if !strings.Contains(p.Verdict, reason) {
			b.may(wrapped("  because ", reason))
		}
	}
	if p.Snippet != "" {
		b.WriteString("\n" + p.Snippet)
	}
	if len(notes) > 0 {
		b.WriteString("\n" + b.notes(notes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// brief is a text of a few lines, and counts those that are left.
type brief struct {
	strings.Builder
	left int
}

// must adds a text, also if its lines are not left.
func (b *brief) must(text string) {
	b.WriteString(text)
	b.left -= strings.Count(text, "\n")
}

// may adds a text if its lines are left.
func (b *brief) may(text string) {
	if strings.Count(text, "\n") <= b.left {
		b.must(text)
	}
}

// notes returns notes in full as far as there is room, and the others in short. There is room for all in short.
func (b *brief) notes(notes []Note) string {
	text, left := inShort(notes), b.left+strings.Count(inShort(notes), "\n")
	for i := range notes {
		var full strings.Builder
		for _, n := range notes[:i+1] {
			full.WriteString(wrapped(n.Severity.String()+": ", n.Code+": "+n.Text))
		}
		full.WriteString(inShort(notes[i+1:]))
		if strings.Count(full.String(), "\n") > left {
			break
		}
		text = full.String()
	}
	return text
}

// inShort says notes in a few words each: "critical: it does not fit; warning: warm the table first, it is throttled".
func inShort(notes []Note) string {
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	for i, n := range notes {
		switch {
		case i == 0:
			b.WriteString(n.Severity.String() + ": ")
		case n.Severity != notes[i-1].Severity:
			b.WriteString("; " + n.Severity.String() + ": ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(cmp.Or(shortWords[n.Code], n.Code))
	}
	return wrapped("", b.String())
}

// inSnippet is the note that a comment of the snippet has as well.
const inSnippet = "second-copy"

// shortWords are the notes that warn, by their codes.
var shortWords = map[string]string{
	"beyond-one-key":         "divide it among keys",
	"cannot-spread":          "it will be throttled",
	"copies":                 "each copy is written",
	"cross-item-consistency": "shards are no snapshot",
	"does-not-fit":           "the peak does not fit",
	"few-shards":             "few shards now",
	"full-partition":         "a shared partition is full",
	"grows-by-itself":        "it was throttled before it grew",
	"held-at-the-limit":      "it may want more: measure again",
	"hot-copies":             "copies are too hot",
	"hot-index":              "the hot index throttles its table",
	"more-hot-keys":          "other keys are hot too",
	"over-budget":            "over budget",
	"quota":                  "above the quota",
	"read-hot":               "reads are too many",
	"reads-outweigh":         "reads cost more than writes",
	"short-bursts":           "its bursts are throttled",
	"slow-reads":             "reads are slow",
	"table-capacity":         "too few provisioned writes",
	"table-read-capacity":    "too few provisioned reads",
	"throttled":              "it is throttled",
	"too-few-shards":         "too few shards now",
	"too-many-shards":        "too many shards now",
	"warm-first":             "warm it first",
	"wasted-capacity":        "capacity is wasted",
}

func list(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		b.WriteString(wrapped("  - ", line))
	}
}

// wrapped breaks a text into lines. The first follows begin, and the others are indented by its width.
func wrapped(begin, text string) string {
	const width = 110
	var b strings.Builder
	b.WriteString(begin)
	indent := strings.Repeat(" ", utf8.RuneCountInString(begin))
	at := len(indent)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteString("\n")
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func (p *Plan) writeNumbers(b *strings.Builder) {
	a, l := &p.Assumed, &p.Load
	line := func(name, format string, args ...any) {
		b.WriteString(wrapped(fmt.Sprintf("%-10s  ", name), fmt.Sprintf(format, args...)))
	}
	line("load", "%s write and %s read units a second at the peak; one partition takes %s and %s",
		grouped(l.WriteUnits), grouped(l.ReadUnits), grouped(l.PartitionWrites), grouped(l.PartitionReads))
	line("sharding", "%s", p.Need)
	line("table", "%s, %s", a.Mode, figure.Count(p.Partitions, "partition"))
	line("a read", "%s, %s units, %s ms at the 99th percentile; %s a month for all reads",
		figure.Count(p.Read.Requests, "request"), grouped(p.Read.Units), grouped(p.Read.P99Millis), dollars(p.Read.Dollars))
	if w := p.Waste; w != nil && w.Wasted > 0 {
		line("wasted", "this key cannot use %s of %s provisioned write units (%s), which cost %s a month",
			grouped(w.Wasted), grouped(w.Provisioned), percent(w.Share), dollars(w.Dollars))
	}
	line("assumed", "%s confidence, partitions %s full, average load %s of the peak, prices of %s, %s",
		percent(a.Confidence), percent(a.Target), percent(a.Average), a.Prices.Region, a.Prices.Date)
}

func (p *Plan) writeWays(b *strings.Builder) {
	if len(p.Ways) == 0 {
		return
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "        \tshards\tpartitions\tupper bound\tsustained\taccepted\trequests\tunits\tp99, "+
		"ms\t$/month\t\n")
	for _, way := range p.Ways {
		mark := ""
		if way.Name == p.Recommended.Name {
			mark = "  <- this plan"
		}
		fmt.Fprintf(t, "%-8s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", way.Name,
			grouped(way.Shards), grouped(way.Partitions), grouped(way.UpperBound), grouped(way.Sustained),
			grouped(way.Accepted),
			grouped(way.Read.Requests), grouped(way.Read.Units), grouped(way.Read.P99Millis), grouped(way.Dollars),
			mark)
	}
	_ = t.Flush() // into a Builder, which takes everything
	b.WriteString(wrapped("", fmt.Sprintf(
		"Upper bound, sustained and accepted are units a second. The upper bound has a partition for each shard. "+
			"Sustained is the load without throttling in %s of placements. Accepted is the average, of a load of %s. "+
			"Requests, units and p99 are of one read.",
		percent(p.Assumed.Confidence), grouped(p.Peak))))
}

func (p *Plan) writeFormulas(b *strings.Builder) {
	f := &p.Formulas
	more := ""
	if f.Band.More {
		more = "+"
	}
	b.WriteString("\n" + wrapped("", fmt.Sprintf(
		"Shards by the published rules, which assume a partition for each shard: at least %d; × %v, %d; × 2, %d; "+
			"rounded, then doubled, %d; four times, %d; by requests, %d to %d%s.",
		f.Minimum, f.Factor, f.Factored, f.Cautious, f.Conservative, f.Generous, f.Band.From, f.Band.To, more)))
	if len(p.Ranking) == 0 {
		return
	}
	var ranks []string
	for _, r := range p.Ranking {
		ranks = append(ranks, fmt.Sprintf("%s %s and %s", r.Strategy, grouped(r.List), grouped(r.Point)))
	}
	b.WriteString(wrapped("", "Requests for a list, and for one item: "+strings.Join(ranks, "; ")+"."))
}
