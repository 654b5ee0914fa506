package move

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// kind is what is to be said about the place of an item in the index.
type kind uint8

const (
	right       kind = iota // where the present layout puts it
	narrower                // where the present layout put it when the key had fewer shards: readers find it
	old                     // where an older layout has it
	misplaced               // in a shard of the present layout, but not the one that is calculated
	beyond                  // in a shard of the present layout that readers do not read
	unexplained             // no layout explains its key, or the item lacks what its place is calculated from
	ambiguous               // its key may be that of two logical keys
	kinds                   // how many there are
)

var kindNames = [kinds]string{"right", "narrower", "old", "misplaced", "beyond", "unexplained", "ambiguous"}

func (k kind) String() string { return kindNames[k] }

// moves reports whether a mover moves items of this kind. It leaves alone what it does not understand: a shard that readers
// do not read may be that of a wider layout, which is being rolled out.
func (k kind) moves() bool { return k == narrower || k == old || k == misplaced }

// verdict is what is to be said about an item.
type verdict struct {
	kind   kind
	key    string     // the logical key, "" if it is unknown
	stored string     // the index's key as it is stored
	want   string     // as the present layout has it
	bare   bool       // the item lacks the index's sort key, so the index does not list it
	change place.Item // what has to be set to move the item
	why    string     // for people, where the kind does not say it all
}

// judge finds out where items are, and where they belong. It sends nothing but reads of ledgers.
type judge struct {
	present *place.Schema
	placer  *place.Placer
	past    []*place.Schema // with one older layout each
	layouts []layout.Layout // the present one, at any width, and the older ones
	key     string          // the only key that matters, "" for all
	prefix  string

	suspects suspects
}

func newJudge(o *Options, present *place.Schema) *judge {
	j := &judge{present: present, placer: place.NewPlacer(present, place.NewChooser(nil)), key: o.Key, prefix: o.Prefix}
	own := present.Layout
	if own.Shards > 0 || present.Adaptive() {
		own.Shards = layout.MaxShards // an item may be in a shard that readers do not read
	}
	j.layouts = append(j.layouts, own)
	for _, l := range o.From {
		j.past = append(j.past, older(present, l))
		j.layouts = append(j.layouts, l)
	}
	return j
}

// reading is how one layout understands a stored key.
type reading struct {
	layout int // 0 is the present one
	layout.Place
}

// understood is what the layouts make of a stored key.
type understood struct {
	all []reading // the readings with the logical key that is most likely, none if no layout explains the stored key
	why string    // why there is none

	// rival is another logical key that the stored key may be of, "" if there is none. The stored key TENANT#3 is shard 3 of
	// TENANT in one layout, and the key TENANT#3 in one without shards. It is ruled out if programs refuse such a key:
	// those of the present layout do, and those that wrote an older one did not. It is as likely if no layout refuses it.
	rival    string
	ruledOut bool
	likely   bool
}

// readings returns how the layouts understand the key of an item.
//
// A layout without shards takes any text for a key. So a reading is only a rival if another layout would have refused its
// key: OPEN#SHARD_3 is hardly a key where there is a layout with such shards.
func (j *judge) readings(item place.Item, stored string) (u understood) {
	var refused []reading
	for i := range j.layouts {
		at, err := j.parse(i, item, stored)
		switch {
		case err != nil:
		case j.refused(at.Key):
			refused = append(refused, reading{i, at})
		case len(u.all) > 0 && at.Key != u.all[0].Key:
			u.rival, u.likely = at.Key, true
		default:
			u.all = append(u.all, reading{i, at})
		}
	}
	switch {
	case len(u.all) == 0 && len(refused) > 0:
		u.why = fmt.Sprintf("it would be of key %s, which ends like a shard or a bucket of a given layout", quote.Text(refused[len(refused)-1].Key))
	case len(u.all) == 0:
		u.why = "no given layout has such a key"
	case u.rival == "":
		u.ruledOut = true
		for _, r := range refused {
			if r.Key != u.all[0].Key {
				u.rival, u.ruledOut = r.Key, u.ruledOut && r.layout == 0
			}
		}
	}
	return u
}

// doubt returns what to say about a key with a rival.
func (u *understood) doubt() string {
	return fmt.Sprintf("it may be of key %s or of key %s, so it stays as it is: choose a Format for the sharded layout that no key reads like",
		quote.Text(u.all[0].Key), quote.Text(u.rival))
}

// wanted reports whether a logical key is one of those to be moved.
func (j *judge) wanted(key string) bool {
	return (j.key == "" || key == j.key) && strings.HasPrefix(key, j.prefix)
}

func (j *judge) parse(i int, item place.Item, stored string) (layout.Place, error) {
	attribute := j.present.ShardAttribute
	if l := j.layouts[i]; i > 0 || attribute == "" {
		if l.Shards == 0 && l.Bucket == layout.NoBucket { // programs without heatsink wrote any key, also those that Parse refuses
			return layout.Place{Key: stored}, nil
		}
		return l.Parse(stored)
	}
	number, ok := item[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return layout.Place{}, errors.New("the item has no shard")
	}
	shard, err := strconv.Atoi(number.Value)
	if err != nil || shard < 0 {
		return layout.Place{}, errors.New("the shard is not a number")
	}
	return layout.Place{Key: stored, Shard: shard}, nil
}

// refused reports whether one of the layouts takes no such key.
func (j *judge) refused(key string) bool {
	for i, l := range j.layouts {
		if i == 0 && j.present.ShardAttribute != "" {
			continue // keys are stored as they are, and may look like shard keys
		}
		if l.CheckKey(key) != nil {
			return true
		}
	}
	return false
}

// judge says where an item is and where it belongs. ok is false if the item does not matter: no index lists it, it is a control
// item, or it is of another key. Only an error about the machine is returned as one. Without fresh, the width of a key may be one of
// before it grew: then an item beyond it says nothing yet.
func (j *judge) judge(ctx context.Context, item place.Item, fresh bool) (v verdict, ok bool, err error) {
	s := j.present
	if id, text := item[s.TableKey[0]].(*types.AttributeValueMemberS); text && layout.IsControl(id.Value) {
		return v, false, nil
	}
	if !s.Listed(item) {
		return v, false, nil
	}
	stored, text := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if !text {
		return verdict{kind: unexplained, why: fmt.Sprintf("attribute %q is %s, want a string", s.PartitionKey, attribute.Describe(item[s.PartitionKey]))}, true, nil
	}
	v.stored = stored.Value
	v.bare = s.SortKey != "" && attribute.Empty(item[s.SortKey])
	u := j.readings(item, stored.Value)
	if len(u.all) == 0 {
		v.kind, v.why = unexplained, u.why
		return v, strings.HasPrefix(stored.Value, j.key+j.prefix), nil
	}
	key := u.all[0].Key
	own := j.wanted(key)
	if !own && (u.rival == "" || !j.wanted(u.rival)) {
		return v, false, nil
	}
	v.key = key
	like := maps.Clone(item)
	like[s.PartitionKey] = &types.AttributeValueMemberS{Value: key}
	home, listing, err := j.placer.Listing(ctx, like, nil)
	switch {
	case errors.Is(err, place.ErrItem):
		v.kind, v.why = unexplained, err.Error()
		return v, true, nil
	case err != nil:
		return v, true, err
	}
	v.want = home.ShardKey
	if s.ShardAttribute != "" {
		v.stored, v.want = j.withShard(stored.Value, item), fmt.Sprintf("%s and %s %d", home.ShardKey, s.ShardAttribute, home.Shard)
	}
	v.change = changes(item, listing)
	if v.change[s.PartitionKey] == nil && (s.ShardAttribute == "" || v.change[s.ShardAttribute] == nil) {
		v.change = nil
		return v, own, nil
	}
	exact := false
	v.kind, exact, err = j.kindOf(ctx, like, stored.Value, u)
	if err != nil {
		return v, true, err
	}
	if v.kind == beyond && !fresh {
		return v, own, nil
	}
	if u.rival != "" && !exact {
		j.suspects.add(stored.Value)
	}
	if u.rival != "" && (u.likely || j.suspects.has(stored.Value)) {
		v.kind, v.why, v.want, v.change = ambiguous, u.doubt(), "", nil
		return v, true, nil
	}
	return v, own, nil
}

// withShard returns the index's key of an item with its shard, for people.
func (j *judge) withShard(stored string, item place.Item) string {
	return fmt.Sprintf("%s and %s %s", stored, j.present.ShardAttribute, attribute.Describe(item[j.present.ShardAttribute]))
}

// changes returns the attributes of a listing that an item has not.
func changes(item, listing place.Item) place.Item {
	set := place.Item{}
	for name, v := range listing {
		if !attribute.Same(place.Item{name: v}, place.Item{name: item[name]}) {
			set[name] = v
		}
	}
	return set
}

// kindOf returns the kind of an item that is not where the present layout puts it. exact says that the item is exactly where a
// given layout has it, so that its key is hardly another one.
func (j *judge) kindOf(ctx context.Context, like place.Item, stored string, u understood) (k kind, exact bool, err error) {
	s, all := j.present, u.all
	in, err := s.KeyIn(ctx, like)
	if err != nil {
		return unexplained, false, err
	}
	own := slices.IndexFunc(all, func(r reading) bool { return r.layout == 0 })
	if own >= 0 && s.Adaptive() {
		homes, err := s.HomesAt(&in, like, false)
		if err != nil {
			return unexplained, false, err
		}
		for _, home := range homes {
			if home.ShardKey == stored && (s.ShardAttribute == "" || home.Shard == all[own].Shard) {
				return narrower, true, nil
			}
		}
	}
	was := false
	for _, r := range all {
		if r.layout == 0 || own >= 0 && s.ShardAttribute != "" { // older layouts have no shard attribute
			continue
		}
		homes, err := j.past[r.layout-1].Homes(ctx, like, false)
		if errors.Is(err, place.ErrItem) && u.ruledOut { // without an EventTime, nothing tells in which bucket it was
			exact = true
		}
		if err == nil && slices.ContainsFunc(homes, func(h place.Home) bool { return h.ShardKey == stored }) {
			was = true
			// A drawn or only shard proves nothing: the item would be there in any case.
			l := j.layouts[r.layout]
			exact = exact || u.ruledOut || len(homes) == 1 && (l.Shards > 1 || l.Bucket != layout.NoBucket)
		}
	}
	switch {
	case was:
		return old, exact, nil
	case own < 0:
		return old, exact, nil // in the wrong shard of an older layout, or in a bucket that the item's time has left
	case all[own].Shard < in.Width.Read:
		return misplaced, false, nil
	}
	return beyond, false, nil
}
