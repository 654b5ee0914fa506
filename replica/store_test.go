package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/replica"
)

// The life of an item: put, read, changed, replaced, deleted, put again, on every engine.
func TestLife(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		ctx, options := t.Context(), replica.Options{Table: "posts", Copies: 3}
		if err := replica.Setup(ctx, client, options); err != nil {
			t.Fatal(err)
		}
		enginetest.DropTable(t, client, options.Table)
		posts := openOn(t, client, options)
		if _, err := posts.Get(ctx, "viral"); !errors.Is(err, replica.ErrNotFound) {
			t.Errorf("get nothing: got %v", err)
		}
		first := put(t, posts, "viral", "one")
		for range 10 {
			item, err := posts.Get(ctx, "viral")
			if want := (replica.Item[post]{ID: "viral", Data: post{Title: "one"}, Version: first}); err != nil || item != want {
				t.Fatalf("got %+v, %v, want %+v", item, err, want)
			}
		}
		changed, err := posts.Change(ctx, "viral", func(p *post) error { p.Likes++; return nil })
		if err != nil || changed.Data.Likes != 1 || changed.Version <= first {
			t.Fatalf("changed to %+v, %v", changed, err)
		}
		if item, err := posts.Get(ctx, "viral"); err != nil || item != changed {
			t.Errorf("got %+v, %v, want %+v", item, err, changed)
		}
		if _, err := posts.Put(ctx, "viral", post{}, replica.IfVersion(first)); !errors.Is(err, replica.ErrConflict) {
			t.Errorf("put on an old version: got %v", err)
		}
		if _, err := posts.Put(ctx, "viral", post{}, replica.IfVersion(0)); !errors.Is(err, replica.ErrConflict) {
			t.Errorf("put over what must not exist: got %v", err)
		}
		second, err := posts.Put(ctx, "viral", post{Title: "two"}, replica.IfVersion(changed.Version))
		if err != nil || second <= changed.Version {
			t.Errorf("put on the version: got %d, %v", second, err)
		}
		if _, err := posts.Delete(ctx, "viral", replica.IfVersion(first)); !errors.Is(err, replica.ErrConflict) {
			t.Errorf("delete an old version: got %v", err)
		}
		end, err := posts.Delete(ctx, "viral", replica.IfVersion(second))
		if err != nil || end <= second {
			t.Errorf("delete: got %d, %v", end, err)
		}
		for _, read := range [][]replica.ReadOption{nil, {replica.Latest}, {replica.AtLeast(end)}} {
			if _, err := posts.Get(ctx, "viral", read...); !errors.Is(err, replica.ErrNotFound) {
				t.Errorf("get what was deleted: got %v", err)
			}
		}
		for name, err := range map[string]error{
			"change":            failure(posts.Change(ctx, "viral", func(*post) error { return nil })),
			"delete if":         failure(posts.Delete(ctx, "viral", replica.IfVersion(second))),
			"put if":            failure(posts.Put(ctx, "viral", post{}, replica.IfVersion(end))),
			"put if, elsewhere": failure(posts.Put(ctx, "other", post{}, replica.IfVersion(end))),
		} {
			if !errors.Is(err, replica.ErrNotFound) {
				t.Errorf("%s: got %v, want not found", name, err)
			}
		}
		if again := put(t, posts, "viral", "three", replica.IfVersion(0)); again <= end || title(posts, "viral") != "three" {
			t.Errorf("put again: version %d after %d, title %q", again, end, title(posts, "viral"))
		}
		if _, err := posts.Delete(ctx, "nobody"); err != nil {
			t.Errorf("delete nothing: %v", err)
		}
	})
}

func failure[T any](_ T, err error) error { return err }

// A change that its caller refuses stores nothing.
func TestChangeRefused(t *testing.T) {
	posts := openOn(t, setup(t, replica.Options{}), replica.Options{})
	version, no := put(t, posts, "viral", "one"), errors.New("no")
	if _, err := posts.Change(t.Context(), "viral", func(p *post) error { p.Title = "two"; return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if item, err := posts.Get(t.Context(), "viral", replica.Latest); err != nil || item.Version != version || item.Data.Title != "one" {
		t.Errorf("got %+v, %v", item, err)
	}
}

// Changes at the same time are all made.
func TestChangesAreNotLost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 20*time.Millisecond))
		var stores []*replica.Store[post]
		for range 4 {
			stores = append(stores, openOn(t, client, replica.Options{Copies: 2}))
		}
		put(t, stores[0], "viral", "one")
		done := make(chan error)
		for _, posts := range stores {
			go func() {
				var err error
				for range 10 {
					_, failed := posts.Change(t.Context(), "viral", func(p *post) error { p.Likes++; return nil })
					err = errors.Join(err, failed)
				}
				done <- err
			}()
		}
		for range stores {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for copy := range 2 {
			if item, err := stores[copy].Get(t.Context(), "viral"); err != nil || item.Data.Likes != 40 {
				t.Errorf("got %+v, %v, want 40 likes", item, err)
			}
		}
	})
}

// An expired item is not found from the second of its expiry, is gone from the table later, and can be put again.
func TestExpiry(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		posts := openOn(t, client, replica.Options{Copies: 2})
		expiry := time.Now().Add(90*time.Second + 300*time.Millisecond)
		first := put(t, posts, "viral", "one", replica.ExpireAt(expiry))
		changed, err := posts.Change(t.Context(), "viral", func(p *post) error { p.Likes++; return nil })
		if want := expiry.Add(time.Second).Truncate(time.Second); err != nil || !changed.Expires.Equal(want) {
			t.Errorf("changed to %+v, %v, want the expiry %v", changed, err, want)
		}
		time.Sleep(90 * time.Second)
		if got := title(posts, "viral"); got != "one" {
			t.Errorf("just before it expires: %s", got)
		}
		time.Sleep(time.Second)
		for _, read := range [][]replica.ReadOption{nil, {replica.Latest}, {replica.AtLeast(first)}} {
			if _, err := posts.Get(t.Context(), "viral", read...); !errors.Is(err, replica.ErrNotFound) {
				t.Errorf("after it has expired: got %v", err)
			}
		}
		if _, err := posts.Put(t.Context(), "viral", post{}, replica.IfVersion(changed.Version)); !errors.Is(err, replica.ErrNotFound) {
			t.Errorf("put on an expired version: got %v", err)
		}
		put(t, posts, "viral", "two", replica.IfVersion(0))
		if got := title(posts, "viral", replica.Latest); got != "two" {
			t.Errorf("put again: %s", got)
		}
		put(t, posts, "brief", "gone", replica.ExpireAt(time.Now().Add(time.Second)))
		if _, err := posts.Delete(t.Context(), "viral"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		for _, key := range []string{"viral", copyKey("viral", 0), copyKey("viral", 1), "brief", copyKey("brief", 0), copyKey("brief", 1)} {
			if item := stored(t, client.Direct, key); item != nil {
				t.Errorf("two hours later the table has %v", item)
			}
		}
	})
}

// Items as large as DynamoDB takes are stored with all copies; larger ones are refused before anything is written.
func TestLargeItems(t *testing.T) {
	client := setup(t, replica.Options{Copies: 100})
	posts := openOn(t, client, replica.Options{Copies: 100})
	low, high := 300<<10, 400<<10 // fits, does not
	for high-low > 1 {
		size := (low + high) / 2
		_, err := posts.Put(t.Context(), "big", post{Title: strings.Repeat("x", size)}, replica.Lazy)
		switch {
		case err == nil:
			low = size
		case errors.Is(err, replica.ErrInput):
			high = size
		default:
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	if low < 409_000 {
		t.Errorf("%d bytes are the most, want 409,000 or more", low)
	}
	before := len(client.Requests())
	if _, err := posts.Put(t.Context(), "big", post{Title: strings.Repeat("x", high)}); !errors.Is(err, replica.ErrInput) || !strings.Contains(err.Error(), "divide") {
		t.Errorf("%d bytes: got %v", high, err)
	}
	if sent := len(client.Requests()) - before; sent != 0 {
		t.Errorf("%d requests for an item that is too large", sent)
	}
	if _, err := posts.Put(t.Context(), "big", post{Title: strings.Repeat("x", low)}); err != nil {
		t.Errorf("%d bytes: %v", low, err)
	}
}

// Ids that could be the key of a copy or a control item are refused.
func TestIDs(t *testing.T) {
	posts := openOn(t, setup(t, replica.Options{}), replica.Options{})
	ids := []string{"", "a#SHARD_1", "\xff", "_hs#x", strings.Repeat("x", 2048), strings.Repeat("x", 70_000)}
	for _, id := range ids {
		for name, err := range map[string]error{
			"get": failure(posts.Get(t.Context(), id)), "put": failure(posts.Put(t.Context(), id, post{})),
			"delete": failure(posts.Delete(t.Context(), id)), "repair": failure(posts.Repair(t.Context(), id)),
			"change": failure(posts.Change(t.Context(), id, func(*post) error { return nil })),
		} {
			if !errors.Is(err, replica.ErrInput) {
				t.Errorf("%s %.20q: got %v", name, id, err)
			}
		}
	}
	for _, id := range []string{"a", "#", "日本", " ", strings.Repeat("x", 2030)} {
		put(t, posts, id, id)
		if got := title(posts, id); got != id {
			t.Errorf("%.20q: got %.40q", id, got)
		}
	}
}

// Arguments that make no sense are refused, and say what to do.
func TestInput(t *testing.T) {
	posts := openOn(t, setup(t, replica.Options{}), replica.Options{})
	put(t, posts, "a", "one")
	nothing := func(*post) error { return nil }
	for _, c := range []struct {
		err  error
		want string
	}{
		{failure(posts.Put(t.Context(), "a", post{}, replica.ExpireAt(time.Now().Add(-time.Hour)))), "has passed: use Delete"},
		{failure(posts.Put(t.Context(), "a", post{}, replica.ExpireAt(time.Unix(math.MaxInt64-7000, 999_999_999)))), "the expiry is in the year"},
		{failure(posts.Put(t.Context(), "a", post{}, replica.ExpireAt(time.Unix(1<<50, 0)))), "the expiry is in the year 35680317, want 9999 at most"},
		{failure(posts.Change(t.Context(), "a", nothing, replica.IfVersion(3))), "use Put"},
		{failure(posts.Delete(t.Context(), "a", replica.IfVersion(0))), "nothing to delete"},
		{failure(posts.Delete(t.Context(), "a", replica.ExpireAt(time.Now()))), "does not expire"},
	} {
		if !errors.Is(c.err, replica.ErrInput) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
	functions, err := replica.Open[func()](local.Start(t).Client(), replica.Options{Table: "posts"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := functions.Get(t.Context(), "a"); err == nil {
		t.Error("got a function from a table")
	}
}

// Options that cannot be are refused, all at once.
// An error about a thousand copies names three, and wraps all.
func TestErrorOfManyCopies(t *testing.T) {
	faults := make([]error, 1000)
	for i := range faults {
		faults[i] = fmt.Errorf("copy %d: %w", i, os.ErrDeadlineExceeded)
	}
	err := &replica.LaggingError{ID: "a", Version: 7, Lagging: 1000, Copies: 1000, MaxStale: time.Second, Err: errors.Join(faults...)}
	if text := err.Error(); len(text) > 300 || !strings.HasSuffix(text, "and 997 more") || !strings.Contains(text, "copy 2: ") || !errors.Is(err, faults[999]) {
		t.Errorf("got %.400s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	posts := openOn(t, setup(t, replica.Options{}), replica.Options{})
	if _, err := posts.Get(ctx, "a"); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), `""`) {
		t.Errorf("got %v", err)
	}
}

// attributevalue encodes a function as nothing, and a record without data is that of a deleted item.
func TestDataWithoutAForm(t *testing.T) {
	client := setup(t, replica.Options{})
	posts, err := replica.Open[any](client, replica.Options{Table: "posts"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := posts.Put(t.Context(), "a", "one"); err != nil {
		t.Fatal(err)
	}
	become := func(to any) func(*any) error { return func(data *any) error { *data = to; return nil } }
	for what, err := range map[string]error{
		"func()":   failure(posts.Put(t.Context(), "a", func() {})),
		"chan int": failure(posts.Change(t.Context(), "a", become(make(chan int)))),
	} {
		if !errors.Is(err, replica.ErrInput) || !strings.Contains(err.Error(), "its data of type "+what+" has no DynamoDB form") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if item, err := posts.Get(t.Context(), "a", replica.Latest); err != nil || item.Data != "one" {
		t.Errorf("got %v, %v", item.Data, err)
	}
}

func TestOptions(t *testing.T) {
	client := &dynamodb.Client{}
	for name, options := range map[string]replica.Options{
		"Table":    {},
		"Copies":   {Table: "t", Copies: -1},
		"1000":     {Table: "t", Copies: 1001},
		"MaxStale": {Table: "t", MaxStale: time.Millisecond},
		"24h":      {Table: "t", MaxStale: 25 * time.Hour},
		"UTF-8":    {Table: "t", Names: replica.Names{Data: "\xff"}},
		"two":      {Table: "t", Names: replica.Names{Data: "id"}},
		"Attempts": {Table: "t", Retry: heatsink.Retry{Attempts: -1}},
	} {
		if _, err := replica.Open[post](client, options); !errors.Is(err, replica.ErrOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
		if name != "Attempts" {
			if err := replica.Setup(t.Context(), client, options); !errors.Is(err, replica.ErrOptions) {
				t.Errorf("%s: setup: got %v", name, err)
			}
		}
	}
	if _, err := replica.Open[post](nil, replica.Options{Table: "t"}); !errors.Is(err, replica.ErrOptions) {
		t.Errorf("no client: got %v", err)
	}
}

// Settings that nobody should choose are refused, or work.
func TestWildOptions(t *testing.T) {
	opened := 0
	for seed := range uint64(400) {
		bubble.Test(t, func(t *testing.T) {
			var options replica.Options
			faulty.Wild(rand.New(rand.NewPCG(1, seed)), &options)
			options.Table, options.Names = "posts", replica.Names{}
			if seed%2 > 0 { // or hardly any would be left
				options.Copies, options.MaxStale, options.Retry.Attempts = int(seed%5), 0, 0
			}
			if _, err := replica.Open[post](&dynamodb.Client{}, options); err != nil {
				return
			}
			opened++
			posts := openOn(t, setup(t, options), options)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := posts.Put(ctx, "a", post{Title: "one"}); err != nil {
				return
			}
			if got := title(posts, "a"); got != "one" {
				t.Errorf("seed %d: got %q with %+v", seed, got, options)
			}
		})
	}
	if opened < 40 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// All attributes can have other names.
func TestNames(t *testing.T) {
	options := replica.Options{Table: "posts", Copies: 1, Names: replica.Names{
		ID: "pk", Version: "v", Data: "d", Expires: "e", TTL: "t", Write: "w", Checked: "c",
	}}
	client := setup(t, options)
	posts := openOn(t, client, options)
	put(t, posts, "a", "one", replica.ExpireAt(time.Now().Add(time.Hour)))
	if got := title(posts, "a"); got != "one" {
		t.Errorf("got %q", got)
	}
	seen := make(map[string]bool)
	for _, r := range client.Requests() {
		if in, ok := r.Input.(*dynamodb.PutItemInput); ok {
			for name := range in.Item {
				seen[name] = true
			}
		}
	}
	if want := map[string]bool{"pk": true, "v": true, "d": true, "e": true, "t": true, "w": true, "c": true}; !reflect.DeepEqual(seen, want) {
		t.Errorf("stored %v, want %v", seen, want)
	}
}

// What another program has put under an item's key is neither returned nor overwritten.
func TestStrangers(t *testing.T) {
	for name, item := range map[string]heatsink.Item{
		"without a version":      {"id": text("a"), "price": number(3)},
		"with a text as version": {"id": text("a"), "version": text("3"), "data": text("x")},
		"with a fraction":        {"id": text("a"), "version": &types.AttributeValueMemberN{Value: "1.5"}},
		"with a huge version":    {"id": text("a"), "version": number(1 << 62)},
		"with a text as expiry":  {"id": text("a"), "version": number(3), "expires": text("x")},
		"with a version":         {"id": text("a"), "version": number(3), "data": text("x")},
	} {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		store(t, client.Direct, item)
		_, err := posts.Get(t.Context(), "a")
		if err == nil || errors.Is(err, replica.ErrNotFound) || !strings.Contains(err.Error(), "attribute") {
			t.Errorf("%s: get: %v", name, err)
		}
		if _, err := posts.Put(t.Context(), "a", post{Title: "mine"}); err == nil || !strings.Contains(err.Error(), "attribute") {
			t.Errorf("%s: put: %v", name, err)
		}
		if got := stored(t, client.Direct, "a"); !reflect.DeepEqual(got, item) {
			t.Errorf("%s: it became %v", name, got)
		}
	}
	// A copy that another program has written over is neither served nor overwritten, and a writer hears of it.
	client := setup(t, replica.Options{Copies: 1})
	posts := openOn(t, client, replica.Options{Copies: 1})
	for name, version := range map[string]types.AttributeValue{"a text": text("mine"), "a number": number(1)} {
		put(t, posts, name, "one")
		strange := heatsink.Item{"id": text(copyKey(name, 0)), "version": version, "data": text("x")}
		store(t, client.Direct, strange)
		if got := title(posts, name); got != "one" {
			t.Errorf("a strange copy with %s as version: got %q", name, got)
		}
		if _, err := posts.Put(t.Context(), name, post{Title: "two"}); !errors.As(err, new(*replica.LaggingError)) {
			t.Errorf("put with a strange copy with %s as version: got %v", name, err)
		}
		if _, err := posts.Repair(t.Context(), name); err == nil {
			t.Errorf("repaired a strange copy with %s as version", name)
		}
		if got := stored(t, client.Direct, copyKey(name, 0)); !reflect.DeepEqual(got, strange) {
			t.Errorf("a strange copy became %v", got)
		}
	}
	// Data that do not fit are an error, not a zero value.
	put(t, posts, "b", "one")
	numbers, err := replica.Open[int](client, replica.Options{Table: "posts", Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := numbers.Get(t.Context(), "b"); !errors.As(err, new(*heatsink.DecodeError)) {
		t.Errorf("a post as a number: got %v, %v", got, err)
	}
}

// The page about this package has its table as the code creates it.
func TestDocsHaveTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes/replica.md")
	if err != nil {
		t.Fatal(err)
	}
	table := replica.Schema(replica.Options{Table: "posts"})
	for name, want := range map[string]string{
		"CloudFormation": "```yaml\n" + table.CloudFormation() + "```\n",
		"Terraform":      "```hcl\n" + table.Terraform() + "```\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/recipes/replica.md does not have the table for %s:\n%s", name, want)
		}
	}
}

// A version that a client makes up is refused. It changes neither this item nor what the store writes next.
func TestVersionThatNobodyGave(t *testing.T) {
	for _, wild := range []replica.Version{-1, math.MinInt64, 1 << 59, 1 << 60, 1<<60 + 1, 1<<61 - 1, 1 << 61, math.MaxInt64} {
		bubble.Test(t, func(t *testing.T) {
			client := setup(t, replica.Options{Copies: 2})
			posts := openOn(t, client, replica.Options{Copies: 2})
			first := put(t, posts, "a", "one")
			for name, err := range map[string]error{
				"put":    failure(posts.Put(t.Context(), "a", post{Title: "wild"}, replica.IfVersion(wild))),
				"delete": failure(posts.Delete(t.Context(), "a", replica.IfVersion(wild))),
			} {
				if !errors.Is(err, replica.ErrConflict) {
					t.Errorf("%s if the version is %d: got %v", name, wild, err)
				}
			}
			_, err := posts.Delete(t.Context(), "nothing", replica.IfVersion(wild))
			if !errors.Is(err, replica.ErrConflict) && !errors.Is(err, replica.ErrNotFound) {
				t.Errorf("delete nothing if the version is %d: got %v", wild, err)
			}
			for _, id := range []string{"a", "b"} {
				v := put(t, posts, id, "next")
				if ahead := time.Until(time.UnixMicro(int64(v))); v <= first || ahead > time.Second {
					t.Errorf("after IfVersion(%d), the version of %q is %d, %v ahead of the clock", wild, id, v, ahead)
				}
				if got := title(posts, id, replica.Latest); got != "next" {
					t.Errorf("after IfVersion(%d), %q has %q", wild, id, got)
				}
			}
		})
	}
}

// An item whose version is far ahead can be read, changed and replaced. The version does not spread to other items.
// Only the greatest has no next, and is refused instead of stored unreadably.
func TestStoredVersionThatIsFarAhead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		for _, far := range []replica.Version{1 << 60, 1<<60 + 7, 1<<61 - 4} {
			put(t, posts, "a", "one", replica.Lazy)
			item := stored(t, client.Direct, "a")
			item["version"] = number(int64(far))
			store(t, client.Direct, item)
			changed, err := posts.Change(t.Context(), "a", func(p *post) error { p.Title = "two"; return nil })
			if err != nil || changed.Version != far+1 {
				t.Errorf("changed to %+v, %v, want version %d", changed, err, far+1)
			}
			if v := put(t, posts, "a", "three"); v != far+2 || title(posts, "a", replica.AtLeast(v)) != "three" {
				t.Errorf("put version %d over %d, then got %q", v, far+1, title(posts, "a", replica.AtLeast(v)))
			}
			if v := put(t, posts, "b", "other"); time.UnixMicro(int64(v)).After(time.Now().Add(time.Second)) {
				t.Errorf("the version of another item is %d", v)
			}
		}
		item := stored(t, client.Direct, "a")
		item["version"] = number(1 << 61)
		store(t, client.Direct, item)
		if _, err := posts.Put(t.Context(), "a", post{Title: "four"}); err == nil || !strings.Contains(err.Error(), "has no next") {
			t.Errorf("put over the greatest version: got %v", err)
		}
		if got := title(posts, "a", replica.Latest); got != "three" {
			t.Errorf("got %q", got)
		}
	})
}

// An item that expires while it is changed is not found. It is no fault of the caller, who gave no expiry.
func TestChangeAcrossTheExpiry(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		posts := openOn(t, setup(t, replica.Options{Copies: 1}), replica.Options{Copies: 1})
		slowly := func(*post) error { time.Sleep(2 * time.Second); return nil }
		put(t, posts, "brief", "one", replica.ExpireAt(time.Now().Add(time.Second)))
		if _, err := posts.Change(t.Context(), "brief", slowly); !errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrInput) {
			t.Errorf("got %v", err)
		}
		put(t, posts, "long", "one")
		if _, err := posts.Change(t.Context(), "long", slowly, replica.ExpireAt(time.Now().Add(time.Second))); !errors.Is(err, replica.ErrInput) {
			t.Errorf("with an expiry that passes meanwhile: got %v", err)
		}
	})
}
