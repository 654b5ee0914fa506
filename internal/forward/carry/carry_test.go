package carry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// network brings requests to an engine that checks signatures. Some are late, and of some the answer is lost.
type network struct {
	handler http.Handler

	mu      sync.Mutex
	random  *rand.Rand
	refused int // for their signature
}

var errLost = errors.New("connection reset by peer")

func (n *network) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	late, lost := time.Duration(1+n.random.IntN(20))*time.Millisecond, n.random.IntN(50) == 0
	switch n.random.IntN(100) {
	case 0:
		late = time.Duration(n.random.Int64N(int64(20 * time.Minute)))
	case 1, 2, 3:
		late = time.Duration(n.random.Int64N(int64(time.Minute)))
	}
	n.mu.Unlock()
	time.Sleep(late)
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	in.Header, in.Host = r.Header, r.URL.Host
	out := httptest.NewRecorder()
	n.handler.ServeHTTP(out, in)
	if bytes.Contains(out.Body.Bytes(), []byte("Signature expired")) {
		n.mu.Lock()
		n.refused++
		n.mu.Unlock()
	}
	if lost {
		return nil, errLost
	}
	return out.Result(), nil
}

// town is a table, its ledger and those who use both.
type town struct {
	t      *testing.T
	client *dynamodb.Client
	net    *network
	table  express.Table
	wait   time.Duration // between stages
	undo   atomic.Bool   // the first move that is split goes back

	mu      sync.Mutex
	random  *rand.Rand
	history map[string][]porcupine.Operation
	stages  map[forward.Stage]bool
	counts  [3]int // operations of unknown outcome, refused and done
}

func newTown(t *testing.T, seed uint64) *town {
	t.Helper()
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	handler := wire.NewHandler(e, wire.Options{Credentials: &wire.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}})
	x := &town{t: t, net: &network{handler: handler, random: rand.New(rand.NewPCG(seed, 1))}, random: rand.New(rand.NewPCG(seed, 2))}
	x.history, x.stages = map[string][]porcupine.Operation{}, map[forward.Stage]bool{}
	x.client = dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://localhost"), Region: "eu-west-1", HTTPClient: x.net, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	})
	for {
		_, err = x.client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
			TableName: aws.String("items"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
		})
		if _, exists := errors.AsType[*types.ResourceInUseException](err); err == nil || exists {
			break
		}
	}
	if x.table, err = express.NewTable("items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *town) draw(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.random.IntN(n)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// ledger is what a process has read of it.
type ledger struct {
	generation int64
	stage      forward.Stage
	old        string // the partition key of the old homes
	lease      lease.Lease
	read       time.Time
}

var ledgerKey = express.Item{"pk": text("ledger"), "sk": text("-")}

// read reads the ledger with strong consistency, until that succeeds.
func (x *town) read() ledger {
	for {
		var stamp lease.Stamp
		out, err := x.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: ledgerKey, ConsistentRead: aws.Bool(true)}, stamp.Note)
		if err != nil {
			continue
		}
		l := ledger{old: "a"}
		if out.Item != nil {
			var fields [3]int64
			for i, name := range []string{"g", "p", "t"} {
				fields[i], _ = strconv.ParseInt(out.Item[name].(*types.AttributeValueMemberN).Value, 10, 64)
			}
			l.generation, l.stage = fields[0], forward.Stage{Phase: forward.Phase(fields[1]), Trace: forward.Trace(fields[2])}
			l.old = out.Item["old"].(*types.AttributeValueMemberS).Value
		}
		if l.lease, err = lease.New(&stamp); err != nil {
			x.t.Error(err)
		}
		l.read, _ = stamp.Time()
		return l
	}
}

// enter changes the ledger, if it is still the one that was read.
func (x *town) enter(l ledger, to forward.Stage, old string) {
	item := express.Item{"g": number(l.generation + 1), "p": number(int64(to.Phase)), "t": number(int64(to.Trace)), "old": text(old)}
	maps.Copy(item, ledgerKey)
	in := &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)")}
	if l.generation > 0 {
		in.ConditionExpression, in.ExpressionAttributeValues = aws.String("g = :g"), express.Item{":g": number(l.generation)}
	}
	_, _ = x.client.PutItem(context.Background(), in, l.lease.Bind) // whoever reads it next knows whether it happened
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stages[to] = true
}

// place is where an id is, as a process knows it.
func (x *town) place(l ledger, id string) Place {
	other := map[string]string{"a": "b", "b": "a"}[l.old]
	return Place{
		Homes: express.Homes{
			Table: x.table, Old: express.Item{"pk": text(l.old), "sk": text(id)}, New: express.Item{"pk": text(other), "sk": text(id)},
		},
		Phase: l.stage.Phase, Generation: uint64(l.generation), Lease: l.lease,
	}
}

func (x *town) carrier() *Carrier {
	return &Carrier{Client: x.client, Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil)}
}

// what is an operation on an item that has one value; 0 is no item.
type what struct {
	kind     forward.Kind
	to, from int64
}

type outcome struct {
	unknown bool
	refused bool
	value   int64
}

var model = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		now, in, out := state.(int64), input.(what), output.(outcome)
		next, refused := now, false
		switch in.kind {
		case forward.Get:
			return out.unknown || out.value == now, now
		case forward.Put:
			next = in.to
		case forward.Upsert:
			next = now + in.to
		case forward.Create:
			next, refused = in.to, now != 0
		case forward.Swap:
			next, refused = in.to, now == 0 || now != in.from
		case forward.Delete:
			next = 0
		}
		if refused {
			return out.unknown || out.refused, now
		}
		return out.unknown || !out.refused, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// user returns the request of an operation.
func (x *town) user(w what, id string) (*express.User, error) {
	key := express.Item{"pk": text("key"), "sk": text(id)}
	item := express.Item{"pk": text("key"), "sk": text(id), "v": number(w.to)}
	switch w.kind {
	case forward.Get:
		return x.table.Get(&dynamodb.GetItemInput{Key: key})
	case forward.Put:
		return x.table.Put(&dynamodb.PutItemInput{Item: item})
	case forward.Create:
		return x.table.Put(&dynamodb.PutItemInput{Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)")})
	case forward.Swap:
		return x.table.Put(&dynamodb.PutItemInput{Item: item, ConditionExpression: aws.String("v = :from"), ExpressionAttributeValues: express.Item{":from": number(w.from)}})
	case forward.Upsert:
		return x.table.Update(&dynamodb.UpdateItemInput{Key: key, UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: express.Item{":n": number(w.to)}})
	}
	return x.table.Delete(&dynamodb.DeleteItemInput{Key: key})
}

// live is a process that works on ids until a time. Now and then it sleeps for long, also within an operation.
func (x *town) live(process int, until time.Time) {
	c := x.carrier()
	known := x.read()
	values, last := int64(process)*1_000_000, int64(0)
	for time.Now().Before(until) {
		time.Sleep(time.Duration(1+x.draw(60_000)) * time.Millisecond)
		if x.draw(40) == 0 {
			time.Sleep(time.Duration(x.draw(120)) * time.Minute)
		}
		values++
		w := what{kind: []forward.Kind{forward.Get, forward.Put, forward.Create, forward.Swap, forward.Upsert, forward.Delete}[x.draw(6)], to: values, from: last}
		id := fmt.Sprint("id", x.draw(4))
		u, err := x.user(w, id)
		if err != nil {
			x.t.Error(err)
			return
		}
		began := time.Now()
		var r Result
		err = x.fresh(&known, func(l ledger) (err error) {
			r, err = c.Operate(context.Background(), x.place(l, id), u, forward.First(x.draw(3)), false)
			return err
		})
		if err != nil && !errors.Is(err, errLost) && !strings.Contains(err.Error(), "Signature expired") && (x.wait > 0 || !errors.Is(err, express.ErrStored) && !errors.Is(err, errStuck)) {
			x.t.Errorf("%+v of %s: %v", w, id, err)
			return
		}
		o := outcome{unknown: err != nil, refused: r.Outcome == forward.Refused && r.Refused != nil}
		if v, ok := r.Content["v"].(*types.AttributeValueMemberN); ok {
			o.value, _ = strconv.ParseInt(v.Value, 10, 64)
			last = o.value
		}
		x.note(process, id, w, o, began)
	}
}

// note adds an operation to the history. One whose outcome is unknown may happen at any time, or not at all: that is, at the end.
func (x *town) note(process int, id string, w what, o outcome, began time.Time) {
	ended := time.Now()
	if o.unknown {
		if w.kind == forward.Get {
			return
		}
		ended = ended.Add(1000 * time.Hour)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.history[id] = append(x.history[id], porcupine.Operation{ClientId: process, Input: w, Output: o, Call: began.UnixNano(), Return: ended.UnixNano()})
	switch {
	case o.unknown:
		x.counts[0]++
	case o.refused:
		x.counts[1]++
	default:
		x.counts[2]++
	}
}

// move moves all ids from one home to the other and back, for as long as there is time.
func (x *town) move(until time.Time) {
	c := x.carrier()
	began := map[int64]time.Time{} // when this mover first saw a generation, by a signature that came after the change
	for time.Now().Before(until) {
		l := x.read()
		if _, ok := began[l.generation]; !ok {
			began[l.generation] = l.read
		}
		waited := l.read.Sub(began[l.generation]) >= x.wait
		chore, then, ok := l.stage.Next(waited, &none)
		if l.stage.Phase == forward.Back {
			x.undo.Store(false)
		}
		if l.stage.Phase == forward.Split {
			if x.undo.Load() {
				then = forward.Stage{Phase: forward.Back}
			}
			if !waited { // it moves some at once
				_ = c.Move(context.Background(), x.place(l, fmt.Sprint("id", x.draw(2))))
			}
		}
		if !ok {
			time.Sleep(time.Minute)
			continue
		}
		if err := x.chore(c, l, chore); err != nil {
			continue // it begins again
		}
		old := l.old
		if l.stage.Phase == forward.Settling {
			old = map[string]string{"a": "b", "b": "a"}[old]
		}
		x.enter(l, then, old)
	}
}

// chore does what is to be done for all ids. A pass that takes longer than its lease begins anew.
func (x *town) chore(c *Carrier, l ledger, chore forward.Chore) error {
	for i := range 4 {
		at := x.place(l, fmt.Sprint("id", i))
		var err error
		switch chore {
		case forward.MoveAll, forward.ReturnAll:
			err = c.Move(context.Background(), at)
		case forward.DropStubs:
			_, err = c.Act(context.Background(), at, forward.Request[express.Item]{Home: forward.Old, Act: forward.DropStub})
		case forward.DropDeads:
			_, err = c.Act(context.Background(), at, forward.Request[express.Item]{Home: forward.Old, Act: forward.DropDead})
		case forward.DropBacks:
			_, err = c.Act(context.Background(), at, forward.Request[express.Item]{Home: forward.New, Act: forward.DropBack})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run lets processes and movers live for some hours. It returns whether they saw one item for each id.
func (x *town) run(hours int) bool {
	until := time.Now().Add(time.Duration(hours) * time.Hour)
	var all sync.WaitGroup
	for process := range 4 {
		all.Go(func() { x.live(process+1, until) })
	}
	for range 2 {
		all.Go(func() { x.move(until) })
	}
	all.Wait()
	for _, history := range x.history {
		if x.t.Failed() { // too many unknown outcomes take the checker very long
			return false
		}
		if porcupine.CheckOperationsTimeout(model, history, 20*time.Second) != porcupine.Ok {
			return false
		}
	}
	return true
}

// The whole life of moves, there and back again, on an engine that checks signatures: processes that read and write by id, pause, and
// lose answers, see one item for each id.
func TestLifeOfAMove(t *testing.T) {
	stages := map[forward.Stage]bool{}
	var counts [3]int
	refused := 0
	for seed := range uint64(4) {
		bubble.Test(t, func(t *testing.T) {
			x := newTown(t, seed)
			x.wait = lease.Wait
			x.undo.Store(seed%2 == 1)
			if !x.run(16) {
				t.Errorf("seed %d: some id was not one item: %v", seed, x.history)
			}
			if returned := (forward.Stage{Trace: forward.Returned}); x.stages[returned] != (seed%2 == 1) {
				t.Errorf("seed %d: stages %v, want the way back in every other seed", seed, x.stages)
			}
			maps.Copy(stages, x.stages)
			for i := range counts {
				counts[i] += x.counts[i]
			}
			refused += x.net.refused
		})
	}
	if len(stages) < 7 || counts[0] < 50 || counts[1] < 500 || counts[2] < 2500 || refused < 20 {
		t.Errorf("%d stages %v; %v operations of unknown outcome, refused and done; %d late requests refused: too few to mean anything", len(stages), stages, counts, refused)
	}
	t.Logf("%v operations of unknown outcome, refused and done; %d late requests refused", counts, refused)
}

// A mover that does not wait for late requests to expire loses items.
func TestLifeNeedsItsWaits(t *testing.T) {
	for seed := range uint64(50) {
		right := true
		bubble.Test(t, func(t *testing.T) {
			x := newTown(t, seed)
			right = x.run(16)
		})
		if !right {
			t.Logf("seed %d", seed)
			return
		}
	}
	t.Error("no id was ever wrong without the waits: the test shows nothing")
}
