package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// tariff is a movable collection on an engine that counts what every request takes, those that are refused included.
type tariff struct {
	mover
	db     *local.DB
	client *faulty.Client
	ids    int
}

// newTariff returns a collection with one key, whose layout is oneShard.
func newTariff(t *testing.T) *tariff {
	t.Helper()
	db, err := local.New(local.Options{Signatures: true, Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.CreateTable(context.Background(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := faulty.On(t, db.Client(), nil)
	c, err := Open[Item](client, movables())
	if err != nil {
		t.Fatal(err)
	}
	return &tariff{mover: mover{t, c}, db: db, client: client}
}

// fill puts n items, and returns their ids.
func (f *tariff) fill(n int) (ids []string) {
	f.t.Helper()
	for range n {
		id := f.id()
		ids = append(ids, id)
		if _, err := f.c.Put(context.Background(), ov("pk", "k", "sk", id, "v", "1")); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ids
}

// The ids before and behind all others.
const firstID, lastID = "00000", "99999"

// bounds puts these.
func (f *tariff) bounds() {
	f.t.Helper()
	for _, id := range []string{firstID, lastID} {
		if _, err := f.c.Put(context.Background(), ov("pk", "k", "sk", id, "v", "1")); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// id returns one that nobody has.
func (f *tariff) id() string {
	f.ids++
	return fmt.Sprintf("%05d", f.ids)
}

// cost returns what an operation takes, such as "2: 1 R, 1 W" for two requests, a read unit and a write unit.
func (f *tariff) cost(use func(context.Context) error) string {
	f.t.Helper()
	time.Sleep(2 * time.Second)
	before := len(f.client.Requests())
	reads, writes := f.units(use)
	sent := f.client.Requests()[before:]
	if i := slices.IndexFunc(sent, func(r faulty.Request) bool { return layout.IsControl(r.Key("pk")) }); i >= 0 {
		f.t.Errorf("the operation has read a control item, which is none of its own costs: %+v", sent[i])
	}
	var units []string
	if reads > 0 {
		units = append(units, fmt.Sprintf("%v R", reads))
	}
	if writes > 0 {
		units = append(units, fmt.Sprintf("%v W", writes))
	}
	return fmt.Sprintf("%d: %s", len(sent), strings.Join(units, ", "))
}

// units returns what the table has served meanwhile, in this second and later.
func (f *tariff) units(use func(context.Context) error) (reads, writes float64) {
	f.t.Helper()
	began := time.Now().Truncate(time.Second)
	if err := use(context.Background()); err != nil {
		f.t.Error(err)
	}
	heats, err := f.db.Partitions(context.Background(), "items", 10*time.Second)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range heats[0].Partitions {
		for _, s := range p.Seconds {
			if !s.Start.Before(began) {
				reads += s.ReadUnits
				writes += s.WriteUnits
			}
		}
	}
	return reads, writes
}

// after makes the process know nothing but where another item is, and reads its control items if they are due. It reads that item so often
// that reads ask one home again.
func (f *tariff) after(id string) {
	f.t.Helper()
	time.Sleep(61 * time.Second)
	f.c.core.movable.hint = passage.Hint{}
	for range 2 {
		if _, err := f.c.Get(context.Background(), ov("pk", "k", "sk", id)); err != nil && !errors.Is(err, ErrNotFound) {
			f.t.Fatal(err)
		}
	}
	f.sure(id)
}

// sure ends the time in which reads ask both homes.
func (f *tariff) sure(id string) {
	f.t.Helper()
	m := f.c.core.movable
	v, err := m.view(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	for range 130 {
		m.hint.Guess(&v.Record, "k", id, forward.Get)
	}
}

// refused returns nil if a condition has failed.
func refused(err error) error {
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return nil
	}
	return fmt.Errorf("got %v, want a condition that fails", err)
}

// pricedUses are the operations on one id. there says that it has an item.
var pricedUses = []struct {
	name string
	use  func(ctx context.Context, c *Collection[Item], id string, there bool) error
}{
	{"Get", func(ctx context.Context, c *Collection[Item], id string, there bool) error {
		_, err := c.Get(ctx, ov("pk", "k", "sk", id))
		if !there && errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}},
	{"Put", func(ctx context.Context, c *Collection[Item], id string, _ bool) error {
		_, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", "2"))
		return err
	}},
	{"Put if absent", func(ctx context.Context, c *Collection[Item], id string, there bool) error {
		_, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", "2"), func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(pk)") })
		if there {
			return refused(err)
		}
		return err
	}},
	{"Put if v = 1", func(ctx context.Context, c *Collection[Item], id string, there bool) error {
		_, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", "2"), func(in *dynamodb.PutItemInput) {
			in.ConditionExpression, in.ExpressionAttributeValues = aws.String("v = :one"), ov(":one", "1")
		})
		if !there {
			return refused(err)
		}
		return err
	}},
	{"Update", func(ctx context.Context, c *Collection[Item], id string, _ bool) error {
		_, err := c.Update(ctx, ov("pk", "k", "sk", id), expression("SET v = :v", ":v", "2"))
		return err
	}},
	{"Delete", func(ctx context.Context, c *Collection[Item], id string, _ bool) error {
		_, err := c.Delete(ctx, ov("pk", "k", "sk", id))
		return err
	}},
	{"transaction", func(ctx context.Context, c *Collection[Item], id string, _ bool) error {
		part, err := c.TransactUpdate(ctx, ov("pk", "k", "sk", id), func(u *types.Update) {
			u.UpdateExpression, u.ExpressionAttributeValues = aws.String("SET v = :v"), ov(":v", "2")
		})
		if err != nil {
			return err
		}
		var tx Transaction
		tx.Add(c, part)
		return tx.Write(ctx)
	}},
}

// priceRow is a row of the first table: what all operations cost on an id in some state, and after another one, or after itself if that
// is "".
func (f *tariff) priceRow(rows map[string][]string, name string, take func() (id string, there bool), after string) {
	f.t.Helper()
	for _, u := range pricedUses {
		id, there := take()
		f.after(cmp.Or(after, id))
		rows[name] = append(rows[name], f.cost(func(ctx context.Context) error { return u.use(ctx, f.c, id, there) }))
	}
}

// priceMany is a row of the second table: what operations on twenty items cost.
func (f *tariff) priceMany(rows map[string][]string, name string, ids []string) {
	f.t.Helper()
	query := func(q Query) func(context.Context) error {
		return func(ctx context.Context) error { _, err := all(ctx, f.c, q, "sk"); return err }
	}
	var puts []Item
	for _, id := range ids[:20] {
		puts = append(puts, ov("pk", "k", "sk", id, "v", "1"))
	}
	known := func() { // the items
		for range 2 {
			if _, err := f.c.BatchGet(context.Background(), puts); err != nil {
				f.t.Fatal(err)
			}
		}
		f.sure(ids[0])
	}
	uses := []func(context.Context) error{
		query(Query{Key: "k"}), query(Query{Key: "k", Consistent: true}),
		func(ctx context.Context) error { _, err := f.c.Count(ctx, Query{Key: "k"}); return err },
		func(ctx context.Context) error { return f.c.BatchPut(ctx, puts) },
		func(ctx context.Context) error { _, err := f.c.BatchGet(ctx, puts); return err },
	}
	costs := make([]string, len(uses))
	for _, n := range []int{0, 1, 2, 4, 3} { // what was put as a whole tells a hint less about the other items than what was moved
		f.after(ids[0])
		known()
		costs[n] = f.cost(uses[n])
	}
	rows[name] = costs
}

// queue hands out ids of items one after another.
func queue(ids []string) func() (string, bool) {
	return func() (id string, there bool) {
		id, ids = ids[0], ids[1:]
		return id, true
	}
}

// The costs of docs/moving.md are what the engine takes for each operation at each stage, also for requests that it refuses.
func TestMovableCosts(t *testing.T) {
	rows := map[string][]string{}
	newID := func(f *tariff) func() (string, bool) { return func() (string, bool) { return f.id(), false } }
	n := len(pricedUses)
	// both prices an id twice. It is looked for in its old home first if it is behind an id that has not moved. It is looked for in its new
	// home first if it is before one that has moved.
	both := func(f *tariff, name string, take func() (string, bool)) {
		t.Helper()
		f.priceRow(rows, name+" | old home", take, firstID)
		f.priceRow(rows, name+" | new home", take, lastID)
	}
	bubble.Test(t, func(t *testing.T) {
		f := newTariff(t)
		f.priceRow(rows, "settled | there | any", queue(f.fill(n)), f.fill(1)[0])
		f.priceRow(rows, "settled | new id | any", newID(f), f.fill(1)[0])
		f.bounds()
		staying, rest, going := f.fill(2*n), f.fill(2*n), f.fill(2*n)
		late, kept := f.fill(2*n), f.fill(n)
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		for _, id := range slices.Concat(going, late, kept, []string{lastID}) {
			f.move("k", id)
		}
		both(f, "split | moved", queue(going))
		both(f, "split | not moved", queue(staying))
		both(f, "split | new id", newID(f))
		f.priceRow(rows, "split | new id | known as absent", newID(f), "")
		time.Sleep(63 * time.Minute)
		f.enter(forward.Stage{Phase: forward.Closed}, nil)
		both(f, "closed | moved", queue(late))
		both(f, "closed | not moved", queue(rest))
		both(f, "closed | new id", newID(f))
		f.priceRow(rows, "closed | new id | known as absent", newID(f), "")
		for i := range f.ids {
			f.move("k", fmt.Sprintf("%05d", i+1))
		}
		time.Sleep(63 * time.Minute)
		f.enter(forward.Stage{Phase: forward.Settling}, nil)
		f.priceRow(rows, "settling | there | any", queue(kept), lastID)
		f.priceRow(rows, "settling | new id | any", newID(f), lastID)
	})
	bubble.Test(t, func(t *testing.T) {
		f := newTariff(t)
		f.bounds()
		staying, going := f.fill(2*n), f.fill(2*n)
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		for _, id := range slices.Concat(going, []string{lastID}) {
			f.move("k", id)
		}
		f.enter(forward.Stage{Phase: forward.Back}, nil)
		both(f, "back | moved", queue(going))
		both(f, "back | not moved", queue(staying))
		both(f, "back | new id", newID(f))
	})
	many := map[string][]string{}
	bubble.Test(t, func(t *testing.T) {
		f := newTariff(t)
		ids := f.fill(20)
		f.priceMany(many, "settled, 1 shard", ids)
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		f.priceMany(many, "split, 1 shard to 16, none moved", ids)
		for _, id := range ids {
			f.move("k", id)
		}
		f.priceMany(many, "split, all moved", ids)
		time.Sleep(63 * time.Minute)
		f.enter(forward.Stage{Phase: forward.Closed}, nil)
		f.priceMany(many, "closed, all moved", ids)
		f.enter(forward.Stage{Phase: forward.Settling}, nil)
		f.priceMany(many, "settling", ids)
		time.Sleep(63 * time.Minute)
		f.enter(forward.Stage{Trace: forward.Deads}, nil)
		time.Sleep(63 * time.Minute)
		f.enter(forward.Stage{}, nil)
		f.priceMany(many, "settled, 16 shards", ids)
	})
	compareCosts(t, "stage | id | asked first", rows, 3)
	compareCosts(t, "stage of 20 items", many, 1)
}

// Two reads show how far the mover has come. From then on a write goes to the right home, whatever id it is for.
func TestMovableGuessesByTheMoversOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newTariff(t)
		ids := f.fill(40)
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		for _, id := range ids[:20] {
			f.move("k", id)
		}
		f.after(ids[19])
		if _, err := f.c.Get(context.Background(), ov("pk", "k", "sk", ids[20])); err != nil {
			t.Fatal(err)
		}
		before := len(f.client.Requests())
		for _, id := range ids {
			if _, err := f.c.Update(context.Background(), ov("pk", "k", "sk", id), expression("SET v = :v", ":v", "2")); err != nil {
				t.Fatal(err)
			}
		}
		if sent := len(f.client.Requests()) - before; sent != len(ids) {
			t.Errorf("%d requests for %d updates", sent, len(ids))
		}
	})
}

// What the charter and the record add is what docs/moving.md says.
func TestMovableAddedCosts(t *testing.T) {
	rows := map[string][]string{}
	bubble.Test(t, func(t *testing.T) {
		f := newTariff(t)
		put := func(c *Collection[Item]) func(context.Context) error {
			return func(ctx context.Context) error { _, err := c.Put(ctx, ov("pk", "k", "sk", f.id())); return err }
		}
		added := func(name string, c *Collection[Item]) {
			t.Helper()
			time.Sleep(2 * time.Second)
			from := len(f.client.Requests())
			reads, writes := f.units(put(c))
			sent := slices.DeleteFunc(f.client.Requests()[from:], func(r faulty.Request) bool { return r.Operation == "DescribeTable" })
			rows[name] = []string{fmt.Sprint(len(sent) - 1), fmt.Sprint(reads), fmt.Sprint(writes - 1)}
		}
		added("the charter and the record, when the first process uses the collection", f.c)
		other, err := Open[Item](f.client, movables())
		if err != nil {
			t.Fatal(err)
		}
		added("the charter and the record, when another process uses it first", other)
		time.Sleep(44 * time.Second)
		added("the record, after 45 seconds", other)
		time.Sleep(12 * time.Second)
		added("the charter, once a minute", other)
	})
	compareCosts(t, "what comes in addition | requests", rows, 1)
}

// compareCosts compares rows with those of the table in docs/moving.md that begins with head. names is the number of columns that name a
// row.
func compareCosts(t *testing.T, head string, got map[string][]string, names int) {
	t.Helper()
	page, err := os.ReadFile("docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| "+head+" |")
	if !ok {
		t.Errorf("docs/moving.md has no table %q", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	seen := map[string]bool{}
	for i, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if i < 2 || len(cells) < names {
			continue
		}
		name := strings.Join(cells[:names], " | ")
		seen[name] = true
		if want := cells[names:]; !slices.Equal(got[name], want) {
			t.Errorf("%s costs %s, and the page says %s", name, strings.Join(got[name], " | "), strings.Join(want, " | "))
		}
	}
	for name, row := range got {
		if !seen[name] {
			t.Errorf("docs/moving.md has no row | %s | %s |", name, strings.Join(row, " | "))
		}
	}
}
