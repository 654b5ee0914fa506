package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// strays reports what the sample has found.
func (v *visit) strays(ctx context.Context, s *sample) {
	v.strayControl(ctx, s)
	for _, j := range s.judges {
		v.beyondLedgers(ctx, j)
		v.strayItems(j)
		if j.full {
			v.result("items", Unknown, fmt.Sprintf("look at fewer items at a time: heatsink doctor %s --items %d --seed N%s, for several N", v.options.Table, maxKept/2, v.controlFlags()),
				"%s: only %s keys were compared, others may have strays", j.name, figure.Thousands(maxKept))
		}
	}
	if len(s.judges) == 0 && len(s.lookalikes) > 0 {
		keys := sorted(s.lookalikes)
		v.result("items", Unknown, fmt.Sprintf("say how many shards readers read, heatsink doctor %s --shards N%s, or set Options.Recorded in all programs", v.options.Table, v.controlFlags()),
			"there are shards of %s, such as of %s, but no layout is recorded: whether readers read all of them is not known", figure.Count(len(keys), "key"), v.key(keys[0]))
	}
	switch {
	case v.worst("items") != OK:
	case ctx.Err() != nil: // some requests after the scan were not sent
		v.result("items", Unknown, "", "looked at in part: %s", cutShort)
	default:
		v.result("items", OK, "", "%s", v.fine(s))
	}
}

// fine says what was looked at, if nothing was wrong with it.
func (v *visit) fine(s *sample) string {
	n := v.report.Sample
	if n == nil || n.Items == 0 {
		return "there are none to look at"
	}
	text := figure.Count(n.Items, "item") + ", all of the table"
	if n.Fraction < 1 {
		text = fmt.Sprintf("%s of about %s (%.1f %%)", figure.Count(n.Items, "item"), figure.Thousands(n.Of), 100*n.Fraction)
	}
	if len(s.judges) == 0 {
		return text + ": no key looks like a shard"
	}
	text += ": none is where readers miss it"
	for _, j := range s.judges {
		if _, _, others := j.lookalikes(); others > 0 {
			text += fmt.Sprintf("; %s under other keys, which %s does not read", figure.Count(others, "item"), j.name)
		}
		if j.listed == 0 {
			text += fmt.Sprintf("; none of them is of %s", j.name)
		}
	}
	return text
}

// strayControl reports what is wrong with control items.
func (v *visit) strayControl(ctx context.Context, s *sample) {
	if s.alien.items > 0 {
		v.result("items", Problem, "store data under other keys: "+layout.ControlPrefix+" is for heatsink's own items",
			"%s under keys that begin with %s, but no control items, such as %s", areText(s.alien.items), layout.ControlPrefix, v.key(s.alien.example))
	}
	if len(s.damaged) > 0 {
		v.result("items", Problem, fmt.Sprintf("heatsink ledger repair KEY --table %s --dry-run%s", v.options.Table, v.controlFlags()),
			"%s damaged, such as that of %s: reads and writes of such a key fail", areOf(len(s.damaged), "ledger"), v.key(s.damaged[0]))
	}
	v.otherCharters(s)
	v.orphans(ctx, s)
}

// maxOthers bounds how many collections are named, and asked for, that nobody has asked about.
const maxOthers = 20

// otherCharters names the collections whose charters were seen beside those that were asked for.
func (v *visit) otherCharters(s *sample) {
	for i, name := range sorted(s.charters) {
		if i == maxOthers {
			v.result("items", OK, "", "%s recorded in the table as well", areOf(len(s.charters)-i, "more collection"))
			return
		}
		v.alsoRecorded(name)
	}
}

func (v *visit) alsoRecorded(name string) {
	v.result("items", OK, "", "collection %s is recorded in the table as well: examine it with --name %s", name, name)
}

// orphans asks for the charters of collections whose other control items were seen.
func (v *visit) orphans(ctx context.Context, s *sample) {
	names := slices.DeleteFunc(sorted(s.orphans), func(name string) bool {
		_, seen := s.charters[name]
		return seen || v.recorded(name)
	})
	for i, name := range names {
		if i == maxOthers {
			v.result("items", Unknown, fmt.Sprintf("heatsink doctor %s --name NAME%s", v.options.Table, v.controlFlags()),
				"there are control items of %s, such as %s: whether they have charters was not asked", figure.Count(len(names)-i, "more collection"), name)
			return
		}
		if dispatch.Sleep(ctx, v.oneUnit()) != nil {
			return
		}
		limit, cancel := limited(ctx)
		_, stored, err := v.control(name).Charter(limit)
		cancel()
		switch {
		case stored:
			v.alsoRecorded(name)
		case err != nil:
			v.result("items", Unknown, "try again", "whether collection %s has a charter is not known: %s", name, oneLine(err))
			return
		default:
			v.result("items", Warning, "if no program uses the collection, delete its control items; a program that does use it writes the charter anew",
				"%s of collection %s, which has no charter", figure.Count(s.orphans[name], "control item"), name)
		}
	}
}

// oneUnit is how long a read unit takes at the rate that the sample may have.
func (v *visit) oneUnit() time.Duration {
	return time.Duration(float64(time.Second) / v.options.MaxRCU)
}

// recorded reports whether a charter of a name was found, however damaged.
func (v *visit) recorded(name string) bool {
	return slices.ContainsFunc(v.report.Results, func(r Result) bool {
		return r.Check == "record" && r.Outcome == Problem && strings.Contains(r.Found, "charter "+name)
	})
}

// strayItems reports the items of a collection that readers miss.
func (v *visit) strayItems(j *judge) {
	if len(j.beyond) > 0 {
		items, worst, key := total(j.beyond)
		v.result("items", Problem, v.widenRemedy(j, worst.shard, key), "%s: %s in shards that readers do not read, such as %s, which is shard %d of key %s",
			j.name, areText(items), v.key(worst.example), worst.shard, v.key(key))
	}
	if keys, items := j.bare(); len(keys) > 0 {
		v.result("items", Problem, v.bareRemedy(j),
			"%s: %s under bare keys that have shards as well, such as %s: readers of the shards miss them", j.name, areText(items), v.key(keys[0]))
	}
	if j.misplaced.items > 0 {
		effect := ": Get does not find them"
		if j.index() {
			effect = "" // it asks the table, whatever the index lists
		}
		v.result("items", Problem, v.misplacedRemedy(j), "%s: %s in another shard than the id says, such as under %s%s",
			j.name, areText(j.misplaced.items), v.key(j.misplaced.example), effect)
	}
	if keys, items, _ := j.lookalikes(); len(keys) > 0 {
		v.result("items", Warning, "find the program that writes another spelling of shards, and set Options.Recorded in all of them",
			"%s: %s under keys that look like shards, such as %s, but no layout in force spells them so", j.name, areText(items), v.key(keys[0]))
	}
}

// total returns how many strays there are, and the one with the largest shard.
func total(strays map[string]stray) (items int64, worst stray, key string) {
	for _, k := range sorted(strays) {
		items += strays[k].items
		if key == "" || strays[k].shard > worst.shard {
			worst, key = strays[k], k
		}
	}
	return items, worst, key
}

// widenRemedy says what to do about items in shards that nobody reads. More shards suit random layouts alone: the number of a
// calculated layout is part of where each item is.
func (v *visit) widenRemedy(j *judge, shard int, key string) string {
	switch {
	case j.of == nil:
		return fmt.Sprintf("check --shards and --layout. If shards are drawn at random, set Layout.Shards to %d or more in all readers. If they are calculated, %s", shard+1, j.again())
	case j.of.charter.Movable:
		return fmt.Sprintf("see all of them: heatsink move %s --name %s --verify%s", v.options.Table, j.of.name, v.controlFlags())
	case j.of.adaptive():
		return fmt.Sprintf("heatsink ledger repair %s --table %s --name %s --dry-run%s", v.keyArgument(key), v.options.Table, j.of.name, v.controlFlags())
	case j.of.charter.Layout.Strategy == layout.Calculated:
		return j.recalculate()
	}
	return fmt.Sprintf("set Layout.Shards to %d or more in all programs, and replace the charter (heatsink ledger charter --help); or find the program that writes there", shard+1)
}

// What to do about items that another layout has placed. An index lists an item once, so that a Put moves it, and a delete would lose it.
const (
	putAgain  = "find the program that writes there. Give it the layout of the others, put its items again, and delete them where they are"
	listAgain = "find the program that writes there. Give it the layout of the others, and put its items again"
	adopt     = ". Or give all programs its layout, with exactly its number of shards, and the old layout in Options.Older (docs/layouts.md); " +
		"replace the charter likewise, with the old layout in \"older\" (heatsink ledger charter --help)"
)

// again says how items get to where their layout has them.
func (j *judge) again() string {
	if j.index() {
		return listAgain
	}
	return putAgain
}

// recalculate says what to do about items that another number of calculated shards has placed.
func (j *judge) recalculate() string {
	if j.of.charter.Layout.Bucket != layout.NoBucket {
		return j.again() // an older layout cannot have buckets
	}
	return j.again() + adopt
}

// bareRemedy says how the bare key is read beside the shards. Format.BareZero would do so instead of shard 0.
func (v *visit) bareRemedy(j *judge) string {
	switch {
	case j.of == nil:
		return "let readers read the bare key too: Options.Older with layout.Layout{} (docs/layouts.md)"
	case j.of.charter.Movable:
		return fmt.Sprintf("see all of them: heatsink move %s --name %s --verify%s; put such items again, and delete them where they are", v.options.Table, j.of.name, v.controlFlags())
	}
	return "let all programs read the bare key too: layout.Layout{} in Options.Older, and \"not sharded\" in the charter's \"older\" (docs/layouts.md, heatsink ledger charter --help)"
}

func (v *visit) misplacedRemedy(j *judge) string {
	if j.of != nil && j.of.charter.Movable {
		return fmt.Sprintf("see all of them: heatsink move %s --name %s --verify%s", v.options.Table, j.of.name, v.controlFlags())
	}
	text := "find the program that writes with another Hash, ShardBy or number of shards; put such items again"
	if j.index() {
		return text
	}
	return text + ", and delete them where they are"
}

// keyArgument is a key as an argument of a command, unless keys are hidden.
func (v *visit) keyArgument(key string) string {
	if v.options.Redact != nil {
		return "KEY"
	}
	return argument(key)
}

// maxLedgers bounds how many ledgers are read after the sample.
const maxLedgers = 200

// beyondLedgers compares the shards that were seen with the ledgers of their keys, the widest first.
func (v *visit) beyondLedgers(ctx context.Context, j *judge) {
	widest := map[logical]int{}
	for at := range j.spots {
		widest[at.logical] = max(widest[at.logical], at.shard)
	}
	keys := slices.SortedFunc(maps.Keys(widest), func(a, b logical) int {
		return cmp.Or(cmp.Compare(widest[b], widest[a]), strings.Compare(a.key, b.key), a.bucket.Compare(b.bucket))
	})
	read := map[logical]int{}
	for i, k := range keys {
		if i == maxLedgers {
			v.result("items", Unknown, "heatsink ledger ls --table "+v.options.Table+v.controlFlags(), "%s: only the %d widest of %s with shards were compared with their ledgers", j.name, maxLedgers, figure.Count(len(keys), "key"))
			break
		}
		width, err := v.width(ctx, j.of, k)
		if err != nil {
			v.result("items", Unknown, "try again", "%s: the ledger of %s cannot be read: %s", j.name, v.key(k.key), oneLine(err))
			break
		}
		read[k] = width
		if dispatch.Sleep(ctx, v.oneUnit()) != nil {
			return
		}
	}
	for at, items := range j.spots {
		if width := read[at.logical]; width > 0 && at.shard >= width {
			stored, err := j.of.charter.Layout.WithShards(layout.MaxShards).ShardKey(at.key, at.bucket, at.shard)
			if err != nil {
				stored = at.key // it was parsed, so this does not happen
			}
			s := j.beyond[at.key].with(at.shard, stored)
			s.items += items - 1
			j.beyond[at.key] = s
		}
	}
}

// width reads how many shards of a key are read, 0 if its ledger is damaged, which is reported elsewhere.
func (v *visit) width(ctx context.Context, c *collection, k logical) (int, error) {
	control := layout.ControlKey{Role: layout.RoleLedger, Key: k.key}
	if by := c.charter.Layout.Bucket; by != layout.NoBucket {
		text, err := by.Text(k.bucket)
		if err != nil {
			return 0, err
		}
		control.Bucket = text
	}
	limit, cancel := limited(ctx)
	defer cancel()
	values, stored, err := c.control.Read(limit, control)
	switch {
	case !stored && err == nil:
		return 1, nil
	case !stored:
		return 0, err
	}
	r, err := v.widen(values, c)
	if err != nil {
		return 0, nil
	}
	return r.Read, nil
}

func areText(n int64) string { return areOf(n, "item") }

// areOf writes how many there are, with the verb: 1 item is, 2 items are.
func areOf[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return figure.Count(n, noun) + " are"
}
