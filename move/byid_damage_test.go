package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// lead takes the users from four shards to a stage of a move to eight, and returns a mover there.
func (x *town) lead(stage string) *move.Mover {
	x.t.Helper()
	o := move.Options{Collection: users(four), To: eight, Segments: 2}
	m := x.mover(o)
	for range 10 {
		now, err := m.Stage(context.Background())
		if err != nil {
			x.t.Fatal(err)
		}
		ended := stage == "settled" && now.Former != nil
		if now.Name == stage && (stage != "settled" || ended) {
			return m
		}
		ctx, cancel := context.WithCancel(context.Background())
		run := m.Run
		switch {
		case stage == "back" || stage == "returned":
			if now.Name != "settled" {
				run = m.Back
			}
		case stage == "closed" && now.Name == "split": // the first page that is read is one of the closed stage
			ready := false
			stopped, err := move.New(watched{Client: x.client, scanned: func() {
				if ready {
					cancel()
				}
			}}, o)
			if err == nil {
				_, err = stopped.Plan(ctx)
			}
			if err != nil {
				x.t.Fatal(err)
			}
			ready = true
			run = stopped.Run
			time.Sleep(63 * time.Minute)
		}
		_, err = run(ctx)
		if err != nil && ctx.Err() == nil {
			x.t.Fatal(err)
		}
		cancel()
		if now, err = m.Stage(context.Background()); err != nil {
			x.t.Fatal(err)
		}
		if now.Name != stage && stage != "closed" {
			time.Sleep(63 * time.Minute)
		}
	}
	x.t.Fatalf("stage %s was not reached", stage)
	return nil
}

// raw writes an item as it is.
func (x *town) raw(item heatsink.Item) {
	x.t.Helper()
	if _, err := x.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &x.table, Item: item}); err != nil {
		x.t.Fatal(err)
	}
}

// erase deletes what is stored under a key.
func (x *town) erase(pk, sk string) {
	x.t.Helper()
	_, err := x.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String("users"), Key: heatsink.Item{"pk": text(pk), "sk": text(sk)}})
	if err != nil {
		x.t.Fatal(err)
	}
}

// homeOf returns where a layout has an id.
func homeOf(t testing.TB, l layout.Layout, key, id string) string {
	t.Helper()
	pk, err := l.ShardKey(key, time.Time{}, l.Shard(id))
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

// mover returns an id of ACTIVE that has another home in eight shards than in four, from a number on.
func moving(t testing.TB, from int) string {
	t.Helper()
	for i := from; ; i++ {
		if id := fmt.Sprintf("u%04d", 2*i); homeOf(t, four, "ACTIVE", id) != homeOf(t, eight, "ACTIVE", id) {
			return id
		}
	}
}

func staying(t testing.TB) string {
	t.Helper()
	for i := 0; ; i++ {
		if id := fmt.Sprintf("u%04d", 2*i); homeOf(t, four, "ACTIVE", id) == homeOf(t, eight, "ACTIVE", id) {
			return id
		}
	}
}

// Verify finds damage of every kind at every stage at which it can be, and nothing else.
func TestVerifyFindsPlantedDamageByID(t *testing.T) {
	type damage struct {
		kind  string
		plant func(x *town, id string)
	}
	old := func(x *town, id string) string { return homeOf(x.t, four, "ACTIVE", id) }
	new := func(x *town, id string) string { return homeOf(x.t, eight, "ACTIVE", id) }
	mark := func(name, value string) func(heatsink.Item) {
		return func(item heatsink.Item) { item[name] = text(value) }
	}
	item := func(pk, id string, edit ...func(heatsink.Item)) heatsink.Item {
		it := heatsink.Item{"pk": text(pk), "sk": text(id)}
		for _, e := range edit {
			e(it)
		}
		return it
	}
	plain := func(it heatsink.Item) { it["value"] = number("7") }
	dead := func(it heatsink.Item) { it["_hs_d"] = &types.AttributeValueMemberBOOL{Value: true} }
	doubled := damage{"doubled", func(x *town, id string) {
		x.raw(item(old(x, id), id, plain))
		x.raw(item(new(x, id), id, plain))
	}}
	strandedOld := damage{"stranded", func(x *town, id string) {
		x.erase(new(x, id), id)
		x.raw(item(old(x, id), id, plain))
	}}
	strandedNew := damage{"stranded", func(x *town, id string) {
		x.erase(old(x, id), id)
		x.raw(item(new(x, id), id, plain))
	}}
	lost := damage{"lost", func(x *town, id string) {
		x.raw(item(old(x, id), id, mark("_hs_f", "s")))
		x.erase(new(x, id), id)
	}}
	lostFrozen := damage{"lost", func(x *town, id string) {
		x.raw(item(old(x, id), id, plain, mark("_hs_f", "z")))
		x.erase(new(x, id), id)
	}}
	odd := damage{"marks", func(x *town, id string) { x.raw(item(old(x, id), id, plain, mark("_hs_f", "?"))) }}
	stubWithContent := damage{"marks", func(x *town, id string) { x.raw(item(old(x, id), id, plain, mark("_hs_f", "s"))) }}
	misplaced := damage{"misplaced", func(x *town, id string) {
		pk, err := eight.ShardKey("ACTIVE", time.Time{}, (eight.Shard(id)+4)%8)
		if err == nil && pk == old(x, id) {
			pk, err = eight.ShardKey("ACTIVE", time.Time{}, (eight.Shard(id)+1)%8)
		}
		if err != nil {
			x.t.Fatal(err)
		}
		x.raw(item(pk, id, plain))
	}}
	unexplained := damage{"unexplained", func(x *town, id string) { x.raw(item("CONFIG", id, plain)) }}
	leftStub := damage{"leftover", func(x *town, id string) { x.raw(item(old(x, id), id, mark("_hs_f", "s"))) }}
	leftDead := damage{"leftover", func(x *town, id string) { x.raw(item(new(x, id), id, dead)) }}
	everywhere := []damage{odd, stubWithContent, misplaced, unexplained}
	for stage, all := range map[string][]damage{
		"split":    {doubled},
		"closed":   {doubled},
		"settling": {doubled, lostFrozen, strandedOld},
		"sweeping": {doubled, strandedOld, leftStub, lostFrozen},
		"settled":  {doubled, strandedOld, leftStub, leftDead, lostFrozen},
		"back":     {doubled, strandedNew},
		"returned": {doubled, strandedNew, lost},
	} {
		for _, d := range append(all, everywhere...) {
			t.Run(stage+" "+d.kind, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					x := found(t)
					x.fill(x.program(four), 40)
					m := x.lead(stage)
					report, err := m.Verify(t.Context())
					if err != nil || report.Damaged() != 0 {
						t.Fatalf("before the damage: %+v, %v", report, err)
					}
					id := moving(t, 1)
					d.plant(x, id)
					report, err = m.Verify(t.Context())
					kinds := map[string]int{}
					for _, f := range report.Findings {
						kinds[f.Kind]++
						if !strings.Contains(f.Key, id) {
							t.Errorf("found %+v, want id %s", f, id)
						}
					}
					if err != nil || report.Damaged() != 1 || kinds[d.kind] != 1 {
						t.Errorf("got %+v, %v, want one %s", report, err, d.kind)
					}
				})
			})
		}
	}
	// An id with one home has no marks at any stage.
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		m := x.lead("split")
		id := staying(t)
		x.raw(item(homeOf(t, four, "ACTIVE", id), id, mark("_hs_f", "s")))
		report, err := m.Verify(t.Context())
		if err != nil || report.Leftover != 1 || report.Damaged() != 1 {
			t.Errorf("got %+v, %v, want one leftover", report, err)
		}
	})
}

// Run meets damage that keeps a stage from ending, says so, and ends when it is repaired.
func TestRunMeetsDamageByID(t *testing.T) {
	for name, test := range map[string]struct {
		stage, kind, says string
		plant, repair     func(x *town, id string)
	}{
		"marks that nobody writes": {
			"split", "marks", "marks that heatsink has not written",
			func(x *town, id string) {
				x.raw(heatsink.Item{"pk": text(homeOf(x.t, four, "ACTIVE", id)), "sk": text(id), "_hs_f": text("?")})
			},
			func(x *town, id string) { x.erase(homeOf(x.t, four, "ACTIVE", id), id) },
		},
		"an item in a shard that is not its own": {
			"split", "misplaced", "belongs to",
			func(x *town, id string) {
				x.raw(heatsink.Item{"pk": text("ACTIVE#SHARD_" + fmt.Sprint((four.Shard(id)+1)%4)), "sk": text(id)})
			},
			func(x *town, id string) { x.erase("ACTIVE#SHARD_"+fmt.Sprint((four.Shard(id)+1)%4), id) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.fill(x.program(four), 40)
				m := x.lead(test.stage)
				time.Sleep(time.Hour)
				id := moving(t, 40) // none of those that were put
				test.plant(x, id)
				time.Sleep(time.Hour)
				result, err := m.Run(t.Context())
				if !errors.Is(err, move.ErrDamage) || !strings.Contains(err.Error(), test.says) || len(result.Findings) != 1 || result.Findings[0].Kind != test.kind {
					t.Errorf("%+v, %v, want ErrDamage that says %q", result, err, test.says)
				}
				test.repair(x, id)
				result, err = x.mover(move.Options{Collection: users(four), To: eight, Wait: true}).Run(t.Context())
				if err != nil || !result.Done {
					t.Errorf("%+v, %v", result, err)
				}
				x.check(eight)
			})
		})
	}
}

// An item that grows too large for its new home stays where it is, and keeps the move from ending until it is smaller.
func TestMoveByIDOfALargeItem(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		c := x.program(bare)
		x.fill(c, 10)
		large := user{Key: "ACTIVE", ID: "large", Value: 1}
		large.Text = strings.Repeat("x", 400<<10-len("pkACTIVEskLargevalue1text")-2)
		x.put(c, large)
		o := move.Options{Collection: users(bare), To: eight}
		result, err := x.mover(o).Run(t.Context())
		if !errors.Is(err, move.ErrDamage) || result.Refused != 1 || result.Moved != 10 || result.Stage.Name != "split" {
			t.Errorf("%+v, %v, want one item refused", result, err)
		}
		if got, err := c.Get(t.Context(), large); err != nil || len(got.Text) != len(large.Text) {
			t.Errorf("the item has %d bytes, %v", len(got.Text), err)
		}
		large.Text = "small"
		x.put(c, large)
		o.Wait = true
		result, err = x.mover(o).Run(t.Context())
		if err != nil || !result.Done || result.Refused != 0 {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(eight)
	})
}

// An item that a program without the record writes to an old home after the end is reported, and the rest of the move goes on.
func TestRunReportsStrandedItems(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		m := x.lead("settling")
		id := moving(t, 40)
		x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", id)), "sk": text(id), "value": number("7")})
		time.Sleep(63 * time.Minute)
		result, err := m.Run(t.Context())
		if !errors.Is(err, move.ErrDamage) || result.Stage.Name != "sweeping" || len(result.Findings) != 1 || result.Findings[0].Kind != "stranded" {
			t.Errorf("%+v, %v, want one stranded item", result, err)
		}
	})
}
