package expr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Attribute names of random items and paths: few, so that they meet.
var someNames = rapid.SampledFrom([]string{"a", "b", "c", "d"})

// randomValue draws a value, of any kind.
func randomValue(depth int) *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value {
		kinds := 7
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return value(rapid.IntRange(-9, 9).Draw(t, "number"))
		case 1:
			return attr.String(rapid.StringMatching(`[ab]{0,3}`).Draw(t, "text"))
		case 2:
			return value(set{1, rapid.IntRange(0, 3).Draw(t, "element")})
		case 3:
			return value(set{"x", rapid.StringMatching(`[ab]`).Draw(t, "element")})
		case 4:
			return attr.Boolean(rapid.Bool().Draw(t, "bool"))
		case 5:
			return attr.List(rapid.SliceOfN(randomValue(depth-1), 0, 4).Draw(t, "list")...)
		default:
			return attr.Map(randomItem(depth-1).Draw(t, "map"))
		}
	})
}

func randomItem(depth int) *rapid.Generator[attr.Item] {
	return rapid.Custom(func(t *rapid.T) attr.Item {
		var fields []attr.Field
		for _, name := range rapid.SliceOfDistinct(someNames, rapid.ID).Draw(t, "names") {
			fields = append(fields, attr.Field{Name: name, Value: randomValue(depth).Draw(t, name)})
		}
		return attr.NewItem(fields...)
	})
}

// randomPath draws a path to a place in an item, where there need not be
// anything yet.
func randomPath(t *rapid.T, it attr.Item) string {
	name := someNames.Draw(t, "name")
	src, v := name, it.Get(name)
	for rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
		switch v.Kind {
		case attr.M:
			name := someNames.Draw(t, "field")
			src, v = src+"."+name, v.Map.Get(name)
		case attr.L:
			i := rapid.IntRange(0, len(v.List)+3).Draw(t, "index")
			src += fmt.Sprintf("[%d]", i)
			if i >= len(v.List) {
				return src
			}
			v = v.List[i]
		default:
			return src
		}
	}
	return src
}

// randomUpdate draws an update that most likely can be applied to an item.
func randomUpdate(t *rapid.T, it attr.Item) string {
	clauses := map[string][]string{}
	var paths []path
	for range rapid.IntRange(1, 8).Draw(t, "actions") {
		src := randomPath(t, it)
		p := mustPath(src)
		if slices.ContainsFunc(paths, func(q path) bool { return p.clash(q) != "" }) {
			continue
		}
		paths = append(paths, p)
		kind := attr.Invalid
		if v := p.find(it); v != nil {
			kind = v.Kind
		}
		ref := map[attr.Kind]string{attr.Invalid: ":one", attr.N: ":one", attr.SS: ":ss", attr.NS: ":ns", attr.L: ":list"}[kind]
		switch clause := rapid.SampledFrom([]string{"SET", "REMOVE", "ADD", "DELETE"}).Draw(t, "clause"); {
		case clause == "REMOVE":
			clauses[clause] = append(clauses[clause], src)
		case clause == "ADD" && (kind == attr.N || kind == attr.Invalid), clause != "SET" && kind.IsSet():
			clauses[clause] = append(clauses[clause], src+" "+ref)
		case kind == attr.N:
			clauses["SET"] = append(clauses["SET"], src+" = "+src+" - "+ref)
		case kind == attr.L:
			clauses["SET"] = append(clauses["SET"], src+" = list_append("+src+", "+ref+")")
		default:
			from := rapid.OneOf(rapid.Just(":map"), rapid.Custom(func(t *rapid.T) string { return randomPath(t, it) })).Draw(t, "from")
			clauses["SET"] = append(clauses["SET"], src+" = if_not_exists("+someNames.Draw(t, "other")+", "+from+")")
		}
	}
	var out []string
	for clause, actions := range clauses {
		out = append(out, clause+" "+strings.Join(actions, ", "))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// mustPath reads a path.
func mustPath(src string) path {
	p, err := ParseProjection(src, NewScope(nil, nil))
	if err != nil {
		panic(err)
	}
	return p.paths[0]
}

// An update leaves its item alone, and does what its actions would do one by
// one, with values computed from the item as it was. They are done from the last
// path to the first, so that no index of a list moves before it is used.
func TestUpdateIsItsActionsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := randomItem(3).Draw(t, "item")
		src := randomUpdate(t, it)
		u, err := ParseUpdate(src, scope())
		if err != nil {
			t.Skip(err)
		}
		before := show(it)
		got, err := u.Apply(it)
		if after := show(it); after != before {
			t.Fatalf("%s changed its item\n from %s\n to   %s", src, before, after)
		}
		if err != nil {
			t.Skip(err)
		}
		want := attr.Map(it)
		behind := map[string]int{}
		for i := range slices.Backward(u.actions) {
			a := &u.actions[i]
			want = doOne(want, a.path, a.write(it, &complaint{}), behind)
		}
		if !got.Equal(want.Map) {
			t.Fatalf("%s\n of   %s\n got  %s\n want %s", src, before, show(got), showValue(want))
		}
	})
}

// doOne does a single write to the value that the rest p of its path starts
// from. It counts the elements written behind the end of a list, by the list's
// path: they are not in the way of those that come before them.
func doOne(v attr.Value, p path, w write, behind map[string]int) attr.Value {
	s, last := p[0], len(p) == 1
	if !s.isIndex() {
		switch {
		case !last:
			return attr.Map(v.Map.With(s.name, doOne(v.Map.Get(s.name), p[1:], w, behind)))
		case w.what == put:
			return attr.Map(v.Map.With(s.name, w.value))
		case w.what == drop:
			return attr.Map(without(v.Map, s.name))
		}
		return v
	}
	list := w.path[:len(w.path)-len(p)].String()
	elems := slices.Clone(v.List)
	end := len(elems) - behind[list]
	switch {
	case !last:
		elems[s.index] = doOne(elems[s.index], p[1:], w, behind)
	case w.what == put && s.index >= end:
		elems = slices.Insert(elems, end, w.value)
		behind[list]++
	case w.what == put:
		elems[s.index] = w.value
	case w.what == drop && s.index < end:
		elems = slices.Delete(elems, s.index, s.index+1)
	}
	return attr.List(elems...)
}

// A projection has a value at a path that was asked for exactly if the item has,
// and it is the same one, as long as no list is involved.
func TestProjectionHasWhatTheItemHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := randomItem(3).Draw(t, "item")
		srcs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return randomPath(t, it) }), 1, 4).Draw(t, "paths")
		p, err := ParseProjection(strings.Join(srcs, ","), scope())
		if err != nil {
			t.Skip(err)
		}
		got := p.Apply(it)
		for _, steps := range p.paths {
			if slices.ContainsFunc(steps, step.isIndex) {
				continue
			}
			a, b := steps.find(it), steps.find(got)
			if (a == nil) != (b == nil) || a != nil && !a.Equal(*b) {
				t.Fatalf("%v\n of  %s\n got %s", steps, show(it), show(got))
			}
		}
		// What was asked for once can be asked for again.
		if again := project(got, wholes(p.paths), 0); !again.Equal(got) {
			t.Fatalf("%v\n got %s,\n then %s", p.paths, show(got), show(again))
		}
	})
}

// wholes are the attributes that paths are about.
func wholes(paths []path) (whole []path) {
	for _, p := range paths {
		if len(whole) == 0 || whole[len(whole)-1][0].name != p[0].name {
			whole = append(whole, p[:1])
		}
	}
	return whole
}
