package shape

import (
	"maps"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// Shape is all keys of one shape, with the leaves that they have.
type Shape struct {
	Text   string // such as THREAT#{id}#{month}
	Leaves []int32

	// Values are those of a {value} that the shape ends with, by text, if nothing else varies; else none.
	Values []Value
}

// Value is one value of a small set.
type Value struct {
	Text string
	Leaf int32
}

// The sizes of sets and of labels. Words in lower case are taken for names sooner.
const (
	mostValues      = 16
	mostLowerValues = 8
	mostLabels      = 24
	mostLowerLabels = 12

	manyIDs    = 8  // ids in a place from which on words in lower case there are ids as well
	enoughSeen = 30 // requests or items of each word that show that there are no more words
	fewTails   = 3  // numbers behind a prefix from which on it is more than part of one id
)

// Shapes returns what was learnt, by text. weight returns how much was seen of a leaf: requests, units or items. constant is
// how much shows that a word is a constant, if it looks like the only name of its kind; 0: nothing does.
func (t *Tree) Shapes(weight func(leaf int32) float64, constant float64) []Shape {
	l := learning{weight: weight, constant: constant}
	var all []Shape
	root := viewOf(t.root)
	if len(root.leaves) > 0 {
		all = append(all, Shape{Text: "{hidden}", Leaves: root.leaves})
	}
	l.place(root, true, true)
	for _, child := range root.children {
		all = child.collect("", all)
	}
	if t.other >= 0 {
		all = append(all, Shape{Text: "{other}", Leaves: []int32{t.other}})
	}
	slices.SortFunc(all, func(a, b Shape) int { return strings.Compare(a.Text, b.Text) })
	return all
}

// view is a copy of a node, which becomes what was learnt.
type view struct {
	seps, prefix, tail string
	tails              sketch.Few
	leaves             []int32
	children           []*view
	values             []Value
}

func viewOf(n *node) *view {
	v := &view{seps: n.seps, prefix: n.prefix, tail: n.tail, tails: n.tails}
	if n.leaf >= 0 {
		v.leaves = []int32{n.leaf}
	}
	for _, text := range slices.Sorted(maps.Keys(n.children)) {
		v.children = append(v.children, viewOf(n.children[text]))
	}
	return v
}

func (v *view) text() string { return v.seps + v.prefix + v.tail }

// collect adds the shapes of a view and its children.
func (v *view) collect(before string, all []Shape) []Shape {
	text := before + v.text()
	if len(v.leaves) > 0 {
		all = append(all, Shape{Text: text, Leaves: v.leaves, Values: v.values})
	}
	for _, child := range v.children {
		all = child.collect(text, all)
	}
	return all
}

// learning decides what the places of a tree are.
type learning struct {
	weight   func(leaf int32) float64
	constant float64
	first    string // the first words of a key
}

// place decides about what follows a view. constant says that nothing before it varies; first that nothing is before it.
func (l *learning) place(v *view, constant, first bool) {
	var learnt []*view
	for _, group := range bySeparators(v.children) {
		if first && group[0].seps == "" {
			learnt = append(learnt, l.group(group, func(ids, words []*view, alone bool) ([]*view, []*view) {
				return l.firstPlace(ids, words, alone && len(group) == len(v.children))
			})...)
			continue
		}
		learnt = append(learnt, l.group(group, func(ids, words []*view, _ bool) ([]*view, []*view) {
			return l.words(ids, words, constant)
		})...)
	}
	v.children = union(learnt)
	for _, child := range v.children {
		if first {
			l.first = child.prefix
		}
		l.place(child, constant && (child.tail == "" || child.tail == valueTail), false)
	}
}

// valueTail is the placeholder of one value of a small set.
const valueTail = "{value}"

func bySeparators(children []*view) [][]*view {
	var groups [][]*view
	for _, child := range children {
		i := slices.IndexFunc(groups, func(g []*view) bool { return g[0].seps == child.seps })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], child)
	}
	return groups
}

// group decides about the tokens of one place, with judge about its words. alone says that there is nothing but words.
func (l *learning) group(children []*view, judge func(ids, words []*view, alone bool) (moreIDs, kept []*view)) []*view {
	var ids, others, numbered, words []*view
	for _, child := range children {
		switch {
		case child.prefix != "" && child.tail != "":
			numbered = append(numbered, child)
		case child.prefix != "":
			words = append(words, child)
		case slices.Contains(Times[:], child.tail), child.tail == "":
			others = append(others, child)
		default:
			ids = append(ids, child)
		}
	}
	numbered, words = joined(numbered, words)
	ids, numbered = l.numbered(ids, numbered)
	ids = mixed(compactDays(ids))
	ids, kept := judge(ids, words, len(ids)+len(others)+len(numbered) == 0)
	return slices.Concat(ids, others, numbered, kept)
}

// joined makes one of the ids that have a prefix in common, such as user_: those that are all digits, or all letters, too.
func joined(numbered, words []*view) (fewer, otherWords []*view) {
	homes := make(map[string]*view)
	for _, v := range numbered {
		if v.tails.Count() >= fewTails && joint(v.prefix[len(v.prefix)-1]) {
			homes[v.prefix] = &view{seps: v.seps, prefix: v.prefix}
		}
	}
	for _, v := range numbered {
		home := homes[v.prefix]
		if home == nil && v.tails.Count() < fewTails {
			home = longest(homes, v)
		}
		if home == nil {
			fewer = append(fewer, v)
			continue
		}
		if home.absorb(v); home.tail == "" && v.prefix == home.prefix {
			home.tail = v.tail
		} else {
			home.tail = "{id}"
		}
	}
	for _, w := range words {
		if home := longest(homes, w); home != nil && home.tail == "{id}" && home.tails.Count() >= manyIDs && lowerCase(w.prefix) {
			home.absorb(w)
		} else {
			otherWords = append(otherWords, w)
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(homes)) {
		fewer = append(fewer, homes[prefix])
	}
	return fewer, otherWords
}

// longest returns the view with the longest prefix that another begins with, nil if there is none.
func longest(homes map[string]*view, v *view) *view {
	var found *view
	for prefix, home := range homes {
		if strings.HasPrefix(v.prefix, prefix) && (found == nil || len(prefix) > len(found.prefix)) {
			found = home
		}
	}
	return found
}

// numbered decides which prefixes of numbers and ids are parts of ids: brand-abc- of brand-abc-123, where every prefix has
// one number or two, and not user- of user-17.
func (l *learning) numbered(ids, numbered []*view) (moreIDs, kept []*view) {
	var loose []*view
	for _, v := range numbered {
		if v.tails.Count() < fewTails {
			loose = append(loose, v)
		} else {
			kept = append(kept, v)
		}
	}
	if len(loose) >= 3 || len(loose) > 0 && len(ids) > 0 {
		return append(ids, asID(loose)), kept
	}
	return ids, numbered
}

// compactDays decides whether numbers that look like days are days.
func compactDays(ids []*view) []*view {
	i := slices.IndexFunc(ids, func(v *view) bool { return v.tail == compactDay })
	if i < 0 {
		return ids
	}
	if ids[i].tail = "{day}"; len(ids) > 1 {
		ids[i].tail = "{n}"
	}
	return union(ids)
}

// mixed makes one of the ids of a place if they are of several kinds: a random id may be all digits.
func mixed(ids []*view) []*view {
	if len(ids) > 1 && slices.ContainsFunc(ids, func(v *view) bool { return v.tail == "{id}" || v.tail == "{hex}" }) {
		return []*view{asID(ids)}
	}
	return ids
}

// words decides about words behind other parts.
func (l *learning) words(ids, words []*view, constant bool) (moreIDs, kept []*view) {
	seen := 0
	for _, v := range ids {
		seen += int(v.tails.Count())
	}
	var ends, labels, values []*view
	for _, w := range words {
		switch {
		case seen >= manyIDs && lowerCase(w.prefix):
			ids = append(ids, w)
		case w.ends():
			ends = append(ends, w)
		case before(w, words):
			values = append(values, w)
		default:
			labels = append(labels, w)
		}
	}
	for _, some := range [][]*view{values, labels} {
		if l.vary(some, len(values) > 0) {
			ids = append(ids, some...)
		} else {
			kept = append(kept, some...)
		}
	}
	switch {
	case l.name(ends), !constant && len(ends) >= 4 && allLower(ends):
		ids = append(ids, ends...)
	case len(ends) > 1 && constant:
		kept = append(kept, asSet(ends))
	default:
		kept = append(kept, ends...)
	}
	if slices.ContainsFunc(ids, func(v *view) bool { return v.prefix != "" }) {
		ids = []*view{asID(ids)}
	}
	return ids, kept
}

// firstPlace decides about words that keys begin with. They say what the keys are of, unless there are too many, or keys
// are nothing else.
func (l *learning) firstPlace(ids, words []*view, alone bool) (moreIDs, kept []*view) {
	var ends, labels, values []*view
	random := slices.ContainsFunc(ids, func(v *view) bool { return v.tail == "{id}" })
	for _, w := range words {
		switch {
		case random && len(w.children) == 0 && scrambled(w.prefix):
			values = append(values, w)
		case w.ends() && len(w.children) == 0:
			ends = append(ends, w)
		case before(w, words):
			values = append(values, w)
		default:
			labels = append(labels, w)
		}
	}
	if len(values) < 3 && !random {
		labels, values = append(labels, values...), nil
	}
	if n := len(labels); alone && n >= 3 && allLower(labels) && followers(labels) < 2*n { // names of several words
		labels, values = nil, append(values, labels...)
	}
	if tooMany(labels) {
		values, labels = append(values, labels...), nil
	}
	kept = labels
	switch {
	case alone && len(labels)+len(values) == 0 && len(ends) > 1:
		if l.name(ends) {
			values = append(values, ends...)
		} else {
			kept = append(kept, asSet(ends))
		}
	case tooMany(ends) || len(ends) > mostLowerValues && allLower(ends):
		values = append(values, ends...)
	default:
		kept = append(kept, ends...)
	}
	if len(values) > 0 {
		ids = []*view{asID(append(ids, values...))}
	}
	return ids, kept
}

// tooMany reports whether there are more words than keys are of.
func tooMany(words []*view) bool {
	return len(words) > mostLabels || len(words) > mostLowerLabels && allLower(words)
}

// vary reports whether words that something follows are ids rather than labels.
func (l *learning) vary(words []*view, values bool) bool {
	switch n := len(words); {
	case n == 0:
		return false
	case n > mostValues:
		return true
	case values:
		return n >= 4 || allLower(words) && (n > 1 || l.contrast(words[0]))
	case n >= 4 && followers(words) < 2*n: // a label has several things behind it
		return true
	default:
		return allLower(words) && (n >= 5 || l.contrast(words[0]) && !l.settled(words))
	}
}

// followers returns how many different tokens follow words, as far as they are told apart.
func followers(words []*view) int {
	n := 0
	for _, w := range words {
		for _, child := range w.children {
			n += max(1, int(child.tails.Count()))
		}
	}
	return n
}

// name reports whether the words that end keys are names of many things rather than the values of a small set.
func (l *learning) name(ends []*view) bool {
	switch n := len(ends); {
	case n == 0:
		return false
	case n > mostValues, n > mostLowerValues && allLower(ends):
		return true
	case !allLower(ends):
		return false
	case n == 1:
		return !l.settled(ends) || l.contrast(ends[0]) && (l.constant == 0 || l.seen(ends[0]) < l.constant)
	}
	return alike(ends) || l.contrast(ends[0]) && compound(ends) || !l.settled(ends)
}

// compound reports whether all words are several, as in jade-garden, and not all end in a digit, as regions do.
func compound(words []*view) bool {
	return !slices.ContainsFunc(words, func(v *view) bool { return !strings.ContainsAny(v.prefix, "-_") }) &&
		slices.ContainsFunc(words, func(v *view) bool { return !digit(v.prefix[len(v.prefix)-1]) })
}

// contrast reports whether a word is in lower case and the first words of the key are not: a name, rather than a word of
// the schema.
func (l *learning) contrast(v *view) bool {
	return lowerCase(v.prefix) && l.first != "" && !lowerCase(l.first)
}

// settled reports whether so much was seen of words that there are hardly any more of them.
func (l *learning) settled(words []*view) bool {
	sum := 0.0
	for _, w := range words {
		sum += l.seen(w)
	}
	return sum >= enoughSeen*float64(len(words))
}

func (l *learning) seen(v *view) float64 {
	sum := 0.0
	for _, leaf := range v.leaves {
		sum += l.weight(leaf)
	}
	for _, child := range v.children {
		sum += l.seen(child)
	}
	return sum
}

func allLower(words []*view) bool {
	return !slices.ContainsFunc(words, func(v *view) bool { return !lowerCase(v.prefix) })
}

// alike reports whether words all begin with the same one, as brand-abc and brand-xyz do: names with a kind before them.
func alike(words []*view) bool {
	first, _, found := strings.Cut(words[0].prefix, "-")
	if !found {
		if first, _, found = strings.Cut(words[0].prefix, "_"); !found {
			return false
		}
	}
	return len(words) > 1 && !slices.ContainsFunc(words, func(v *view) bool { return !strings.HasPrefix(v.prefix, first) })
}

// ends reports whether nothing but times and shards follows.
func (v *view) ends() bool {
	for _, child := range v.children {
		shard := child.tail == "{n}" && strings.EqualFold(strings.Trim(child.prefix, "-_"), "shard")
		if !shard && !slices.Contains(Times[:], child.tail) || !child.ends() {
			return false
		}
	}
	return true
}

// before reports whether a word that also follows another word of its place follows this one: acme and globex are before
// USER in acme#USER and globex#USER.
func before(v *view, siblings []*view) bool {
	for _, child := range v.children {
		if child.prefix == "" {
			continue
		}
		for _, other := range siblings {
			if other != v && slices.ContainsFunc(other.children, func(c *view) bool { return c.prefix == child.prefix && c.seps == child.seps }) {
				return true
			}
		}
	}
	return false
}

// asID makes one id of some views.
func asID(some []*view) *view {
	id := &view{seps: some[0].seps, tail: "{id}"}
	for _, v := range some {
		id.absorb(v)
	}
	return id
}

// asSet makes one value of some words.
func asSet(words []*view) *view {
	set := &view{seps: words[0].seps, tail: valueTail}
	for _, w := range words {
		if len(w.leaves) > 0 {
			set.values = append(set.values, Value{w.prefix, w.leaves[0]})
		}
		set.absorb(w)
	}
	return set
}

// absorb adds the leaves and children of another view.
func (v *view) absorb(other *view) {
	v.tails |= other.tails
	v.leaves = append(v.leaves, other.leaves...)
	v.children = union(append(v.children, other.children...))
}

// union makes one of views with the same text.
func union(views []*view) []*view {
	var all []*view
	for _, v := range views {
		i := slices.IndexFunc(all, func(known *view) bool { return known.text() == v.text() })
		if i < 0 {
			all = append(all, v)
			continue
		}
		all[i].absorb(v)
	}
	return all
}
