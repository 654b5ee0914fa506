package move

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// Items of a list are looked for in all shards of their key if another one with the same sort key was seen. A Bloom filter tells: with 16
// bits for each item, less than 1% of the items are looked for in vain.
const listHashes = 3

// suspectInList is suspect for a list.
func (i *inspection) suspectInList(at located, state forward.State, odd error, item place.Item, r *passage.Record) bool {
	moving := r.Stage.Phase == forward.Split || r.Stage.Phase == forward.Closed
	switch {
	case odd != nil, at.spot == astray, at.spot == atUnknown:
		return true
	case at.spot != atOld:
		return state != forward.Live || i.again(at, item)
	case state == forward.Live || state == forward.Frozen:
		return !moving || i.again(at, item)
	}
	return true
}

// again notes that a sort key of a list was seen, and reports whether it probably was before.
func (i *inspection) again(at located, item place.Item) bool {
	hash := i.hash(at, item)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.seen[0] == nil {
		i.seen[0] = newBitmap(int(min(max(16*aws.ToInt64(i.work.table.ItemCount), leastSeen), 2*mostSeen)))
	}
	before := true
	for n := range listHashes {
		h := bits.RotateLeft64(hash, 21*n)
		before = before && i.seen[0].has(h)
		i.seen[0].set(h)
	}
	return before
}

// twin looks for another item with the sort key of one that was read, in all shards where programs read the key. While items move, the
// same item may be in an old shard and in a new one.
func (i *inspection) twin(ctx context.Context, v *passage.View, d *diagnosis) error {
	r := &v.Record
	moving := r.Stage.Phase == forward.Split || r.Stage.Phase == forward.Closed
	in := []passage.Arrangement{r.Now}
	switch {
	case moving:
		in = append(in, *r.Next)
	case r.Stage.Phase == forward.Settling:
		in = []passage.Arrangement{*r.Next}
	}
	var shards []string
	for _, a := range in {
		all, err := a.For(d.at.key).ShardKeys(d.at.key, time.Time{}, time.Time{})
		if err != nil {
			return err
		}
		shards = append(shards, all...)
	}
	slices.Sort(shards)
	own, _ := i.byID.table.Slot(d.item)
	for _, pk := range slices.Compact(shards) {
		if pk == storedKey(d.item, i.options.Collection.PartitionKey) {
			continue
		}
		item, err := i.get(ctx, v, located{old: pk, new: pk}, d.item, forward.Old)
		if err != nil {
			return err
		}
		slot, odd := i.byID.table.Slot(item)
		if odd != nil || slot.State != forward.Live && slot.State != forward.Frozen {
			continue
		}
		stays := d.at.spot != atOld && hasShard(in[len(in)-1].For(d.at.key), d.at.key, pk)
		if stays || !i.byID.table.SameContent(own.Content, slot.Content) {
			d.twin = pk
			return nil
		}
	}
	return nil
}

// inList is kind for an item of a list, in a shard of its key.
func (d *diagnosis) inList() (kind, why string) {
	phase := d.record.Stage.Phase
	moving := phase == forward.Split || phase == forward.Closed
	unread := d.at.spot == atOld && !moving
	switch {
	case unread && d.here == forward.Live:
		return kindStranded, "it is live in an old shard, which nobody reads any more: a program that ignores the record has written it"
	case unread && d.here == forward.Frozen && d.new == forward.Absent:
		return kindLost, "its content is in an old shard only, which nobody reads any more"
	case d.twin != "":
		return kindDoubled, fmt.Sprintf("shard %s has an item with this sort key as well, but the items of a list need sort keys of their own: "+
			"append one of them through the collection with another sort key, and delete it where it is", quote.Text(d.twin))
	case d.at.spot != atOld && d.here == forward.Live, d.at.spot == atOld && moving && (d.here == forward.Live || d.here == forward.Frozen):
		return "", ""
	case d.at.spot == atOld && d.here == forward.Stub && phase != forward.Settled && d.new == forward.Absent:
		return kindLost, fmt.Sprintf("it has moved on to %s, but is not there: another program has deleted it", quote.Text(d.at.new))
	case d.at.spot == atOld && d.here == forward.Stub && phase != forward.Settled:
		return "", ""
	case phase != forward.Settled:
		return kindMarks, fmt.Sprintf("it is %v, which no item of this shard is at this stage", d.here)
	}
	return kindLeftover, fmt.Sprintf("it is %v, and the move is over", d.here)
}
