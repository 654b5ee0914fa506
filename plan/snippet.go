package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// snippet returns Go declarations that do what the plan says with packages of heatsink, and "" if there is nothing to do.
// What they use says what they import: heatsink, layout, cache, counter, ratelimit and replica of this module, and time.
func (w *Workload) snippet(p *Plan) string {
	if w.limiter && p.Shard {
		return w.limiterOptions(p)
	}
	switch p.Strategy {
	case Leave:
		return ""
	case Cached:
		return fmt.Sprintf("// reads.Get(ctx, %q, load) calls load once in %v, for all callers.\nvar reads = "+
			"cache.New[[]heatsink.Item](cache.Options{TTL: %s})\n",
			w.Key, w.Read.Stale, nanoseconds(int64(w.Read.Stale)))
	case Replicated:
		return w.replicaOptions(p)
	case Counter:
		return w.counterOptions(p)
	}
	return w.options(p)
}

// nanoseconds writes a duration as Go does, in the largest unit that fits.
func nanoseconds(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"Hour", 3600e9}, {"Minute", 60e9}, {"Second", 1e9}, {"Millisecond", 1e6}, {"Microsecond", 1e3}} {
		if n%unit.size == 0 {
			if n == unit.size {
				return "time." + unit.name
			}
			return fmt.Sprintf("%d * time.%s", n/unit.size, unit.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// field is a field of a struct literal.
type field struct{ name, value string }

func (w *Workload) options(p *Plan) string {
	fields := append(w.Names.fields(w.Table.Index), field{"Layout", literal(w.declared(p))})
	if w.alone(p.Strategy) {
		fields = append(fields, field{"Widths", fmt.Sprintf("layout.WidthTable{Default: layout.Width{Write: 1, Read: 1}, "+
			"Keys: map[string]layout.Width{%q: {Write: %[2]d, Read: %[2]d}}}", w.Key, p.Shards)})
	}
	if p.Bucket != layout.NoBucket && w.Names.Time != "" {
		fields = append(fields, field{"EventTime", fmt.Sprintf("heatsink.EventTime{Attribute: %q}", w.Names.Time)})
	}
	if older := w.older(p); older != "" {
		fields = append(fields, field{"Older", older})
	}
	return declare(w.explain(p), "heatsink.Options", fields)
}

// declare writes a variable with options of a type, below comments.
func declare(comments []string, kind string, fields []field) string {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.name))
	}
	var b strings.Builder
	for _, line := range comments {
		b.WriteString("// " + line + "\n")
	}
	b.WriteString("var options = " + kind + "{\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "\t%-*s %s,\n", width+1, f.name+":", f.value)
	}
	b.WriteString("}\n")
	return b.String()
}

// fields returns those that have a name in them, without those whose name is not known.
func (n *Names) fields(index bool) []field {
	var list []field
	add := func(name, value string) {
		if value != "" {
			list = append(list, field{name, strconv.Quote(value)})
		}
	}
	add("Table", n.Table)
	if index {
		add("PartitionKey", n.TableKey)
		add("SortKey", n.TableSortKey)
		return append(list, field{"Index", n.index()})
	}
	add("PartitionKey", n.PartitionKey)
	add("SortKey", n.SortKey)
	return list
}

// index returns the index as a struct literal, without the fields whose name is not known.
func (n *Names) index() string {
	var list []string
	for _, f := range []field{{"Name", n.Index}, {"PartitionKey", n.PartitionKey}, {"SortKey", n.SortKey}} {
		if f.value != "" {
			list = append(list, f.name+": "+strconv.Quote(f.value))
		}
	}
	return "heatsink.Index{" + strings.Join(list, ", ") + "}"
}

// blanks says which names are to be filled in, in one line.
func (w *Workload) blanks(p *Plan) []string {
	n := &w.Names
	if !n.Blank {
		return nil
	}
	var missing []string
	ask := func(field, value, what string) {
		if value == "" {
			missing = append(missing, field+" ("+what+")")
		}
	}
	of := ""
	if w.Table.Index {
		of = "Index."
		ask("PartitionKey", n.TableKey, "the table's")
		if !n.Described {
			ask("SortKey", n.TableSortKey, "the table's, if any")
		}
		ask("Index.Name", n.Index, "the index's name")
	}
	ask(of+"PartitionKey", n.PartitionKey, "the attribute")
	if !n.Described {
		ask(of+"SortKey", n.SortKey, "the attribute, if any")
	}
	if p.Bucket != layout.NoBucket {
		ask("EventTime", n.Time, "the attribute of an item's time")
	}
	if missing == nil {
		return nil
	}
	return []string{"Fill in " + strings.Join(missing, ", ") + "."}
}

// explain says in comments what the options do.
func (w *Workload) explain(p *Plan) []string {
	first, last := w.keys(p)
	as := "as"
	if p.Bucket != layout.NoBucket && w.latest.IsZero() {
		as = "as, for example,"
	}
	lines := []string{fmt.Sprintf("%q is stored %s %q to %q.", w.Key, as, first, last)}
	if first == last {
		lines[0] = fmt.Sprintf("%q is stored %s %q.", w.Key, as, first)
	}
	if text := strings.TrimSpace(w.whereItemsAre(p) + " " + w.whatOthersKeep(p)); text != "" {
		lines = append(lines, text)
	}
	if w.duplicates(p) {
		lines = append(lines, "Put of an existing item adds a second copy: change it with Update, or Delete it first: see docs/layouts.md.")
	}
	return append(lines, w.blanks(p)...)
}

// whereItemsAre says how the options find the items that are there already.
func (w *Workload) whereItemsAre(p *Plan) string {
	bare, shards := w.bareZero(p), figure.Count(w.Shards, "shard")
	switch {
	case w.past(p) != "" && w.bare:
		return fmt.Sprintf("Older reads existing items in %s of this Format and Hash: set those they have.", shards)
	case w.past(p) != "":
		return fmt.Sprintf("Older reads existing items under the bare key and in %s of this Format and Hash: set those they have. "+
			"Remove a layout that was never written.", shards)
	case w.bare && bare:
		return fmt.Sprintf("Existing items in %s are in these shards.", shards)
	case w.Existing && w.Shards > 0 && w.Bucket != layout.NoBucket:
		return fmt.Sprintf("Existing items in %s of the same Format are in these shards. Those of a %s without a shard are not read: move them first.",
			shards, w.Bucket)
	case w.Existing && w.Shards > 0 && !bare:
		return fmt.Sprintf("Older reads existing items under the bare key; those in %s of the same Format are in these shards.", shards)
	case bare && p.Bucket != layout.NoBucket:
		return fmt.Sprintf("Existing items are shard 0 of their %s.", p.Bucket)
	case bare && w.alone(p.Strategy):
		return "Existing items are shard 0."
	case bare:
		return "Existing items are shard 0: if they are sharded already, plan again with their number of shards."
	case w.Existing && w.Bucket == layout.NoBucket:
		return "Older reads existing items under the bare key: if they are sharded, add their layout to Older."
	}
	return ""
}

// whatOthersKeep says what becomes of other keys.
func (w *Workload) whatOthersKeep(p *Plan) string {
	switch {
	case w.Bucket != layout.NoBucket:
		return fmt.Sprintf("This is for keys with a %s: open other keys without Bucket.", w.Bucket)
	case w.alone(p.Strategy):
		return "Other keys stay as they are: add the widths that they have."
	}
	return ""
}

// layout returns the layout of the plan.
func (w *Workload) layout(p *Plan) layout.Layout {
	l := layout.Layout{Strategy: placing(p.Strategy), Bucket: p.Bucket, Format: w.Names.Format}
	if p.Shard || p.Strategy == Replicated {
		l.Shards = p.Shards
	}
	l.Format.BareZero = w.bareZero(p)
	return l
}

// placing returns how a layout chooses shards for a strategy. A recipe chooses for itself.
func placing(s Strategy) layout.Strategy {
	switch s {
	case Calculated, ShardedIndex:
		return layout.Calculated
	}
	return layout.Random
}

// literal writes a layout in Go.
func literal(l layout.Layout) string { return "layout.Layout" + literalFields(l) }

// literalFields writes a layout in Go, where its type need not be said.
func literalFields(l layout.Layout) string {
	var parts []string
	if l.Shards != 0 {
		parts = append(parts, fmt.Sprintf("Shards: %d", l.Shards))
	}
	if l.Strategy == layout.Calculated {
		parts = append(parts, "Strategy: layout.Calculated")
	}
	if l.Hash == layout.Product {
		parts = append(parts, "Hash: layout.Product")
	}
	if l.Bucket != layout.NoBucket {
		name := l.Bucket.String()
		parts = append(parts, "Bucket: layout."+strings.ToUpper(name[:1])+name[1:])
	}
	if l.Format != (layout.Format{}) {
		parts = append(parts, "Format: "+literalFormat(l.Format))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// literalFormat writes a format in Go, by its name if it has one.
func literalFormat(f layout.Format) string {
	switch f {
	case layout.SharpNumber():
		return "layout.SharpNumber()"
	case layout.PlainNumber():
		return "layout.PlainNumber()"
	case layout.DotFromOne():
		return "layout.DotFromOne()"
	}
	var parts []string
	if f.BareZero {
		parts = append(parts, "BareZero: true")
	}
	text := func(name, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%s: %q", name, value))
		}
	}
	number := func(name string, value int) {
		if value != 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", name, value))
		}
	}
	text("ShardPrefix", f.ShardPrefix)
	number("First", f.First)
	number("Width", f.Width)
	text("BucketPrefix", f.BucketPrefix)
	text("HourMark", f.HourMark)
	return "layout.Format{" + strings.Join(parts, ", ") + "}"
}

// older writes the layouts of the items that are there already, "" if there are none elsewhere. If a number of shards is given,
// it may be the one that the key has, or one that it is thought to need: both pasts are read. Older layouts have no buckets, and
// where the keys have some already, items are in the same ones.
func (w *Workload) older(p *Plan) string {
	past := w.past(p)
	switch {
	case !w.Existing || w.Bucket != layout.NoBucket:
		return ""
	case w.bare && past != "":
		return "[]layout.Layout{" + past + "}"
	case w.bareZero(p):
		return ""
	case past != "":
		return "[]layout.Layout{{}, " + past + "}"
	}
	return "[]layout.Layout{{}}"
}

// past writes the layout of the shards that the key has already, "" if there are none or all readers of the plan ask for them.
func (w *Workload) past(p *Plan) string {
	switch {
	case !w.Existing || w.Shards == 0 || w.Bucket != layout.NoBucket || p.Strategy == Random && w.Shards <= p.Shards:
		return ""
	case w.bare && w.alone(p.Strategy) && !w.uneven && w.Shards <= p.Shards && w.Shards&(w.Shards-1) == 0:
		return "" // it has grown by Widths, whose readers ask for each of its earlier widths
	}
	l := layout.Layout{Shards: w.Shards, Strategy: placing(p.Strategy), Format: w.Names.Format}
	if w.uneven && l.Strategy == layout.Calculated {
		l.Hash = layout.Product // an example of one that spreads some ids unevenly
	}
	l.Format.BareZero = w.bare
	return literalFields(l)
}

// bareZero reports whether shard 0 has the key that items have already. A random layout and one of an index look for them
// there, and so does one with the buckets that the keys have. A calculated one looks there only with widths, which one key of
// many has. If there are shards already, shard 0 stays as it is.
func (w *Workload) bareZero(p *Plan) bool {
	switch {
	case !p.Shard || p.Strategy == Counter, p.Strategy == BucketedShards && w.Bucket == layout.NoBucket:
		return false
	case w.Shards > 0:
		return w.bare
	}
	alone := w.alone(p.Strategy)
	return alone || w.Existing && p.Strategy != Calculated
}

// alone reports whether only this one of many keys gets shards, by Options.Widths: the others stay as they are, unless any of
// them may become hot.
func (w *Workload) alone(s Strategy) bool {
	one := w.OneOfMany && !w.Unpredictable
	switch s {
	case Random, Calculated, ShardedIndex:
		return one
	case BucketedShards:
		return one && w.Bucket != layout.NoBucket
	}
	return false
}

// declared is layout without the shards that Options.Widths has.
func (w *Workload) declared(p *Plan) layout.Layout {
	l := w.layout(p)
	if w.alone(p.Strategy) {
		l.Shards = 0
	}
	return l
}

// duplicates reports whether putting an item again that is there already makes a second one: the item decides its shard, or the
// snippet has the key as it is among the older layouts, where Put does not look. The table of an index has every item once.
func (w *Workload) duplicates(p *Plan) bool {
	if w.limiter {
		return false
	}
	switch p.Strategy {
	case Leave, Cached, Replicated, Counter:
		return false
	case Calculated:
		return w.Existing || w.bareZero(p)
	}
	return w.Existing && w.Bucket == layout.NoBucket && !w.bareZero(p) && !w.Table.Index
}

// keys returns the first and the last shard key, with a bucket as it may be.
func (w *Workload) keys(p *Plan) (first, last string) {
	l := w.layout(p)
	return w.storedKey(l, 0), w.storedKey(l, max(l.Shards, 1)-1)
}

// storedKey returns the key of a shard. The workload's key may be a text that heatsink refuses as a key, so another one
// stands in for it.
func (w *Workload) storedKey(l layout.Layout, shard int) string {
	const standIn = "KEY"
	at := w.latest
	set(&at, time.Date(2026, time.June, 22, 1, 0, 0, 0, time.UTC)) // an example, and said to be one
	stored, err := l.ShardKey(standIn, at, shard)
	if err != nil {
		return fmt.Sprintf("(%v)", err) // not with a workload that was validated
	}
	return w.Key + strings.TrimPrefix(stored, standIn)
}
