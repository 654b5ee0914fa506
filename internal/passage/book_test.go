package passage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/wire"
	"github.com/heatsink-go/heatsink/layout"
)

// way brings requests to an engine that checks signatures and their times.
type way struct{ handler http.Handler }

func (w way) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body)).WithContext(r.Context())
	in.Header, in.Host = r.Header, r.URL.Host
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, in)
	answer := out.Result()
	answer.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) // by which the SDK corrects its clock
	return answer, nil
}

// skewed signs with a clock that is wrong.
type skewed struct {
	dynamodb.HTTPSignerV4
	by time.Duration
}

func (s *skewed) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time, o ...func(*v4.SignerOptions)) error {
	return s.HTTPSignerV4.SignHTTP(ctx, c, r, hash, service, region, at.Add(s.by), o...)
}

// start returns a client of an engine with the table items, which checks signatures.
func start(t testing.TB, edits ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://localhost"), Region: "eu-west-1",
		HTTPClient: way{wire.NewHandler(e, wire.Options{Credentials: &wire.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}})},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, edits...)
	_, err = client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String("items"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func calculated(shards int) Arrangement {
	return Arrangement{Layout: layout.Layout{Shards: shards, Strategy: layout.Calculated}}
}

// newBook returns the book of another process.
func newBook(client adapt.Client, own Arrangement) *Book {
	b, _ := loggedBook(client, own)
	return b
}

func loggedBook(client adapt.Client, own Arrangement) (*Book, *bytes.Buffer) {
	retry := dispatch.Retry{Attempts: 3, Base: time.Microsecond, Max: time.Microsecond}
	logs := &bytes.Buffer{}
	return NewBook(Options{
		Control: &adapt.Control{
			Client: client, Table: "items", PartitionKey: "pk", SortKey: "sk", Collection: "orders",
			Reads: dispatch.New(retry, nil, nil), Writes: dispatch.New(retry, nil, nil),
		},
		Own:    own,
		Logger: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}), logs
}

func view(t testing.TB, b *Book) *View {
	t.Helper()
	v, err := b.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// advance brings a book to a stage, and waits before it as long as it has to.
func advance(t testing.TB, b *Book, then forward.Stage, next *Arrangement) *View {
	t.Helper()
	time.Sleep(lease.Wait + 2*jitter + time.Second)
	v, err := b.Advance(context.Background(), view(t, b), then, next, "a test")
	if err != nil {
		t.Fatalf("to %s: %v", describe(then), err)
	}
	return v
}

var (
	split    = forward.Stage{Phase: forward.Split}
	closed   = forward.Stage{Phase: forward.Closed}
	settling = forward.Stage{Phase: forward.Settling}
	deads    = forward.Stage{Trace: forward.Deads}
	clean    = forward.Stage{}
	back     = forward.Stage{Phase: forward.Back}
	returned = forward.Stage{Trace: forward.Returned}
)

// A move goes through its stages, and processes that are configured with either layout use the collection until it is finished.
func TestMove(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		from, to := calculated(4), calculated(16)
		mover := newBook(client, from)
		first := view(t, mover).Record
		if want := First(from, time.UnixMilli(first.At), mover.by); !first.Equal(want) || time.Since(time.UnixMilli(first.At)).Abs() > 2*jitter {
			t.Errorf("got %+v, want %+v", first, want)
		}
		next := &to
		for i, then := range []forward.Stage{split, closed, settling, deads, clean} {
			v := advance(t, mover, then, next)
			next = nil
			if v.Record.Generation != int64(i)+2 || v.Record.Stage != then || v.Record.Why != "a test" {
				t.Errorf("got %+v, want %s", v.Record, describe(then))
			}
			for _, own := range []Arrangement{from, to} {
				if got := view(t, newBook(client, own)); !got.Record.Equal(v.Record) {
					t.Errorf("%s: another process with %s got %+v, want %+v", describe(then), own, got.Record, v.Record)
				}
			}
		}
		late := newBook(client, from)
		view(t, late)
		v, err := mover.Finish(t.Context(), view(t, mover))
		if err != nil || v.Record.Former != nil || !v.Record.Now.Equal(to) {
			t.Fatalf("got %+v, %v", v, err)
		}
		if _, err := newBook(client, from).View(t.Context()); !errors.Is(err, charter.ErrIncompatible) || !strings.Contains(err.Error(), "16 shards") || !strings.Contains(err.Error(), "4 shards") {
			t.Errorf("a process with the old layout got %v, want ErrIncompatible", err)
		}
		time.Sleep(renewAfter)
		for range 2 {
			if v, err := late.View(t.Context()); !errors.Is(err, charter.ErrIncompatible) {
				t.Errorf("a process that runs with the old layout got %v, %v, want ErrIncompatible", v, err)
			}
		}
	})
}

func TestMoveBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		from, to := calculated(4), calculated(16)
		mover := newBook(client, from)
		view(t, mover)
		advance(t, mover, split, &to)
		if _, err := mover.Advance(t.Context(), view(t, mover), back, nil, "at once"); err != nil {
			t.Fatal(err)
		}
		if v := advance(t, mover, returned, nil); !equal(v.Record.Next, &to) {
			t.Errorf("got %+v, want the new homes still there", v.Record)
		}
		if v := advance(t, mover, clean, nil); v.Record.Next != nil || !v.Record.Now.Equal(from) || !equal(v.Record.Former, &to) {
			t.Errorf("got %+v", v.Record)
		}
		view(t, newBook(client, to)) // it was deployed for the move
	})
}

// A stage that waits for late requests cannot begin before none can arrive.
func TestEarly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBook(start(t), calculated(4))
		to := calculated(16)
		v := advance(t, b, split, &to)
		time.Sleep(lease.Wait - jitter)
		stamp, err := b.Stamp(t.Context())
		if err != nil || v.Waited(stamp) {
			t.Errorf("got %v, %v", stamp, err)
		}
		if _, err := b.Advance(t.Context(), view(t, b), closed, nil, ""); !errors.Is(err, ErrEarly) {
			t.Errorf("got %v, want ErrEarly", err)
		}
		time.Sleep(3*jitter + time.Second)
		if stamp, err = b.Stamp(t.Context()); err != nil || !v.Waited(stamp) {
			t.Errorf("got %v, %v", stamp, err)
		}
		if _, err := b.Advance(t.Context(), view(t, b), closed, nil, ""); err != nil {
			t.Errorf("got %v", err)
		}
	})
}

// A view is used for half a minute without a request. Then one of those who use it reads it again, and the others go on.
func TestViewIsRenewedBesideItsUse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		first := view(t, b)
		reads := client.Count("GetItem")
		time.Sleep(renewAfter - time.Second)
		if view(t, b) != first || client.Count("GetItem") != reads {
			t.Errorf("got another view, or %d requests", client.Count("GetItem")-reads)
		}
		time.Sleep(time.Second)
		client.Delay(faulty.Exactly(10 * time.Second))
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if v := view(t, b); !v.Record.Equal(first.Record) {
					t.Errorf("got %+v", v.Record)
				}
			})
		}
		synctest.Wait()
		if v := view(t, b); v != first {
			t.Error("a view that lasts is not used while another is read")
		}
		all.Wait()
		if n := client.Count("GetItem") - reads; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		renewed := view(t, b)
		if renewed == first || !renewed.Lease().Over(time.Now().Add(lease.Term)) || renewed.Lease().Over(time.Now().Add(lease.Term-11*time.Second)) {
			t.Errorf("got the lease %+v at %v", renewed.Lease(), time.Now())
		}
	})
}

// Whoever has no view waits for one read. Each leaves when its context ends, and another sends the read then.
func TestWaitingForOneRead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		view(t, b)
		time.Sleep(lease.Term)
		reads := client.Count("GetItem")
		client.Delay(faulty.Exactly(10 * time.Second))
		var all sync.WaitGroup
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		all.Go(func() {
			if _, err := b.View(short); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, adapt.ErrLedger) {
				t.Errorf("got %v, want that of the context", err)
			}
		})
		synctest.Wait() // it is under way
		began := time.Now()
		for range 10 {
			all.Go(func() { view(t, b) })
		}
		all.Go(func() {
			if _, err := b.View(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
				t.Errorf("got %v after %v, want that of the context", err, time.Since(began))
			}
		})
		all.Wait()
		if n := client.Count("GetItem") - reads; n != 2 {
			t.Errorf("%d requests, want 2: one was given up", n)
		}
	})
}

// A record that cannot be read is no matter while a view lasts. Then everything fails, and recovers by itself.
func TestUnreadable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b, logs := loggedBook(client, calculated(4))
		first := view(t, b)
		client.Decide(faulty.Always(faulty.Throttled))
		time.Sleep(renewAfter)
		for range 3 {
			if v := view(t, b); v != first {
				t.Error("got another view")
			}
		}
		if n := strings.Count(logs.String(), "cannot be read again yet"); n != 1 || client.Wrong() != 3 {
			t.Errorf("%d failures of %d requests are logged, want one read of 3 attempts: %s", n, client.Wrong(), logs)
		}
		time.Sleep(lease.Term - renewAfter)
		client.Delay(faulty.Exactly(time.Second))
		before := client.Wrong()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if v, err := b.View(t.Context()); !errors.Is(err, adapt.ErrLedger) || dispatch.Judge(err) != dispatch.Refused {
					t.Errorf("got %v, %v, want ErrLedger because of a throttle", v, err)
				}
			})
		}
		all.Wait()
		if n := client.Wrong() - before; n != 3 {
			t.Errorf("%d requests, want one read of 3 attempts", n)
		}
		client.Decide(nil)
		view(t, b) // the failure is not shared with who comes after
	})
}

// A lease that is over by the signatures is not used again, whatever this machine's clock says.
func TestRenewReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		first := view(t, b)
		reads := client.Count("GetItem")
		v, err := b.Renew(t.Context(), first)
		if err != nil || v == first || !v.Record.Equal(first.Record) || client.Count("GetItem") != reads+1 {
			t.Errorf("got %v, %v after %d requests, want another view", v, err, client.Count("GetItem")-reads)
		}

		to := calculated(16)
		mover := newBook(client, calculated(4))
		if _, err := mover.Advance(t.Context(), view(t, mover), split, &to, ""); err != nil {
			t.Fatal(err)
		}
		if v, err = b.Renew(t.Context(), v); err != nil || v.Record.Stage != split {
			t.Errorf("got %+v, %v", v, err)
		}
		reads = client.Count("GetItem")
		if again, err := b.Renew(t.Context(), first); err != nil || again != v || client.Count("GetItem") != reads {
			t.Errorf("got %v, %v after %d requests, want the view that is known", again, err, client.Count("GetItem")-reads)
		}
	})
}

// Those who renew at the same time share a read, but none that was sent before they asked.
func TestRenewSharesLaterReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		first := view(t, b)
		reads := client.Count("GetItem")
		client.Delay(faulty.Exactly(10 * time.Second))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { _, _ = b.Renew(t.Context(), first) })
			synctest.Wait()
		}
		all.Wait()
		if n := client.Count("GetItem") - reads; n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// A read that took place before a change, and is answered after it, does not undo what the process knows.
func TestOlderAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		first := view(t, b)
		client.Delay(func(r faulty.Request) time.Duration {
			if r.Operation == "GetItem" {
				return 10 * time.Second // it arrives after half of it
			}
			return 0
		})
		var all sync.WaitGroup
		var renewed *View
		all.Go(func() { renewed, _ = b.Renew(t.Context(), first) })
		time.Sleep(7 * time.Second)
		to := calculated(16)
		v, err := b.Advance(t.Context(), first, split, &to, "")
		if err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if renewed != v || view(t, b) != v {
			t.Errorf("got %+v, and %+v is used, want %+v", renewed, view(t, b), v)
		}
	})
}

// The record of an older table, or none, is refused, also by a process that could go on for a while.
func TestLostRecord(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, client *dynamodb.Client, old adapt.Item)
		says   string
	}{
		"older": {func(t *testing.T, client *dynamodb.Client, old adapt.Item) {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: old}); err != nil {
				t.Fatal(err)
			}
		}, "generation 1, and this process has seen 2"},
		"gone": {func(t *testing.T, client *dynamodb.Client, _ adapt.Item) {
			if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: itemKey}); err != nil {
				t.Fatal(err)
			}
		}, "gone"},
		"another of the same generation": {func(t *testing.T, client *dynamodb.Client, old adapt.Item) {
			old[nameGeneration] = &types.AttributeValueMemberN{Value: "2"}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: old}); err != nil {
				t.Fatal(err)
			}
		}, "somebody has replaced it"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t)
				b := newBook(client, calculated(4))
				first := view(t, b)
				out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: itemKey})
				if err != nil {
					t.Fatal(err)
				}
				to := calculated(16)
				if _, err := b.Advance(t.Context(), first, split, &to, ""); err != nil {
					t.Fatal(err)
				}
				c.change(t, client, out.Item)
				time.Sleep(renewAfter)
				for range 2 {
					if v, err := b.View(t.Context()); !errors.Is(err, adapt.ErrLedger) || !errors.Is(err, ledger.ErrLost) || !strings.Contains(err.Error(), c.says) {
						t.Errorf("got %v, %v, want ErrLost that says %s", v, err, c.says)
					}
				}
			})
		})
	}
}

var itemKey = adapt.Item{"pk": &types.AttributeValueMemberS{Value: "_hs#P#orders"}, "sk": &types.AttributeValueMemberN{Value: "0"}}

// A record that cannot be understood is refused.
func TestDamagedRecord(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		value     types.AttributeValue
		want      error
	}{
		"another type": {nameStage, &types.AttributeValueMemberBOOL{Value: true}, adapt.ErrLedger},
		"garbage":      {nameStage, &types.AttributeValueMemberS{Value: "nowhere"}, adapt.ErrLedger},
		"newer":        {nameVersion, &types.AttributeValueMemberN{Value: "4"}, ledger.ErrNewer},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t)
				view(t, newBook(client, calculated(4)))
				_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
					TableName: aws.String("items"), Key: itemKey, UpdateExpression: aws.String("SET #a = :v"),
					ExpressionAttributeNames: map[string]string{"#a": c.attribute}, ExpressionAttributeValues: adapt.Item{":v": c.value},
				})
				if err != nil {
					t.Fatal(err)
				}
				if v, err := newBook(client, calculated(4)).View(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("got %v, %v, want %v", v, err, c.want)
				}
			})
		})
	}
}

func TestOwnLayoutIsWrong(t *testing.T) {
	own := calculated(4)
	own.Layout.Strategy, own.Layout.Bucket = layout.Random, layout.Day
	if _, err := newBook(start(t), own).View(t.Context()); !errors.Is(err, ErrArrangement) {
		t.Errorf("got %v, want ErrArrangement", err)
	}
}

// unsigned signs nothing.
type unsigned struct{}

func (unsigned) SignHTTP(context.Context, aws.Credentials, *http.Request, string, string, string, time.Time, ...func(*v4.SignerOptions)) error {
	return nil
}

// deaf passes on no options.
type deaf struct{ *dynamodb.Client }

func (d deaf) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return d.Client.GetItem(ctx, in)
}

func TestUnsigned(t *testing.T) {
	client := start(t)
	for name, c := range map[string]adapt.Client{
		"not signed": dynamodb.New(dynamodb.Options{
			BaseEndpoint: aws.String("http://localhost"), Region: "eu-west-1", HTTPSignerV4: unsigned{}, Credentials: client.Options().Credentials,
		}),
		"options are not passed on": deaf{client},
	} {
		if v, err := newBook(c, calculated(4)).View(t.Context()); !errors.Is(err, lease.ErrUnsigned) || !strings.Contains(err.Error(), "needs a client that signs") {
			t.Errorf("%s: got %v, %v, want ErrUnsigned", name, v, err)
		}
	}
}

// Of several movers that go on at the same time, one succeeds. The others see what it has stored.
func TestMoversRace(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		books := []*Book{newBook(client, calculated(4)), newBook(client, calculated(4)), newBook(client, calculated(4))}
		for i, b := range books {
			if v := view(t, b); !v.Record.Equal(view(t, books[0]).Record) {
				t.Errorf("book %d has %+v", i, v.Record)
			}
		}
		var mu sync.Mutex
		var won []*View
		var all sync.WaitGroup
		for i, b := range books {
			for range 2 { // also within a process
				all.Go(func() {
					to := calculated(16 + i)
					v, err := b.Advance(t.Context(), view(t, b), split, &to, "race")
					if err != nil {
						if !errors.Is(err, ErrChanged) && !errors.Is(err, ErrStage) {
							t.Errorf("got %v, want ErrChanged", err)
						}
						return
					}
					mu.Lock()
					won = append(won, v)
					mu.Unlock()
				})
			}
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d succeed, want 1", len(won))
		}
		for i, b := range books {
			if v := view(t, b); !v.Record.Equal(won[0].Record) {
				t.Errorf("book %d has %+v, want %+v", i, v.Record, won[0].Record)
			}
		}
	})
}

// A change whose answer is lost has happened once, and its sender knows it.
func TestLostAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		faults []faulty.Fault
		want   error // nil: it has happened
	}{
		"the answer":               {[]faulty.Fault{faulty.LostAnswer}, nil},
		"all answers":              {[]faulty.Fault{faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer}, nil},
		"the request":              {[]faulty.Fault{faulty.LostRequest}, nil},
		"all requests":             {[]faulty.Fault{faulty.LostRequest, faulty.LostRequest, faulty.LostRequest}, adapt.ErrLedger},
		"throttled":                {[]faulty.Fault{faulty.Throttled, faulty.Throttled}, nil},
		"throttled without an end": {[]faulty.Fault{faulty.Throttled, faulty.Throttled, faulty.Throttled}, faulty.Throttled.Err()},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := faulty.On(t, start(t), nil)
				b := newBook(client, calculated(4))
				first := view(t, b)
				client.Decide(faulty.Script(c.faults...).Of("PutItem"))
				to := calculated(16)
				v, err := b.Advance(t.Context(), first, split, &to, "")
				now := view(t, newBook(client, calculated(4))).Record
				switch {
				case c.want == nil:
					if err != nil || !v.Record.Equal(now) || now.Generation != 2 || view(t, b) != v {
						t.Errorf("got %+v, %v, and %+v is stored", v, err, now)
					}
				case dispatch.Judge(c.want) == dispatch.Refused:
					if dispatch.Judge(err) != dispatch.Refused || now.Generation != 1 {
						t.Errorf("got %v, and %+v is stored, want %v", err, now, c.want)
					}
				case !errors.Is(err, c.want) || now.Generation != 1 || !strings.Contains(err.Error(), "may still be"):
					t.Errorf("got %v, and %+v is stored, want %v", err, now, c.want)
				}
			})
		})
	}
}

// The attempt that was stored may not be the last one, and carries another time.
func TestChangeByAnEarlierAttempt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		first := view(t, b)
		client.Decide(faulty.Script(faulty.LostAnswer).Of("PutItem"))
		client.Delay(faulty.Exactly(30 * time.Second).Of(faulty.LostAnswer)) // so that the next attempt carries another time
		to := calculated(16)
		v, err := b.Advance(t.Context(), first, split, &to, "")
		if err != nil || v.Record.Generation != 2 || !v.Record.Equal(view(t, newBook(client, to)).Record) {
			t.Errorf("got %+v, %v", v, err)
		}
	})
}

// A stage carries the time of its signature, also if this machine's clock is wrong, or is set while it runs.
func TestSkewedClock(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		clock := &skewed{v4.NewSigner(), 10 * time.Minute}
		client := start(t, func(o *dynamodb.Options) { o.HTTPSignerV4 = clock })
		b := newBook(client, calculated(4))
		first := view(t, b)
		if !about(first.Record.At, clock.by) {
			t.Errorf("the first record is of %s at %v, want 10 minutes later", moment(first.Record.At), time.Now())
		}
		if view(t, b) != first {
			t.Error("a view does not last if the clock of signatures differs")
		}
		clock.by = -10 * time.Minute
		to := calculated(16)
		v, err := b.Advance(t.Context(), first, split, &to, "")
		if err != nil || !about(v.Record.At, clock.by) {
			t.Errorf("got %+v, %v at %v, want 10 minutes earlier", v, err, time.Now())
		}
		if view(t, b) != v {
			t.Error("the view of before is used again")
		}
	})
}

// about reports whether a time of a record is now by a wrong clock.
func about(at int64, wrong time.Duration) bool {
	return time.Since(time.UnixMilli(at).Add(-wrong)).Abs() < 2*jitter
}

// The SDK corrects its clock by up to a second with each answer. No change fails for that.
func TestSignaturesJitter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(client, calculated(4))
		view(t, b)
		client.Delay(faulty.Exactly(130 * time.Millisecond))
		to := calculated(16)
		for range 10 {
			for _, then := range []forward.Stage{split, back, returned, clean} {
				next := &to
				if then != split {
					next = nil
				}
				writes := client.Count("PutItem")
				v := view(t, b)
				if then != back { // exactly as long as it has to be
					for {
						stamp, err := b.Stamp(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						if v.Waited(stamp) {
							break
						}
						time.Sleep(270 * time.Millisecond)
						if since := stamp.Sub(time.UnixMilli(v.Record.At)); since < lease.Wait {
							time.Sleep(lease.Wait - since)
						}
					}
				}
				if _, err := b.Advance(t.Context(), v, then, next, ""); err != nil || client.Count("PutItem") != writes+1 {
					t.Fatalf("to %s: got %v after %d writes", describe(then), err, client.Count("PutItem")-writes)
				}
			}
		}
	})
}

func BenchmarkView(b *testing.B) {
	book := newBook(start(b), calculated(4))
	view(b, book)
	for b.Loop() {
		if _, err := book.View(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
