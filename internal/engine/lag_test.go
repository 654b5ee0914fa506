package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// laggard is an engine that is set back, with a table.
func laggard(t *testing.T, lag Lag) *Engine {
	e := openEngine(t, Options{Lag: &lag})
	createTable(t, e, newTableInput("tab", "pk:S sk:S").withGlobal("byG", "g:S").withLocal("local", "pk:S other:S"))
	return e
}

// version is what a read of the item finds, empty if there is none.
func version(t *testing.T, e *Engine, consistent bool) string {
	t.Helper()
	out, err := e.GetItem(t.Context(), &GetItemInput{TableName: new("tab"), Key: fields("pk", "p", "sk", "s"), HasKey: true, ConsistentRead: consistent})
	if err != nil {
		t.Fatal(err)
	}
	return versionOf(t, out.Item)
}

func versionOf(t *testing.T, raw attr.Raw) string {
	t.Helper()
	if raw == nil {
		return ""
	}
	it, err := raw.Decode()
	if err != nil {
		t.Fatal(err)
	}
	return it.Get("v").Str
}

// found is what a Query or Scan finds of the item.
func found(t *testing.T, read func() (*ReadOutput, error)) string {
	t.Helper()
	out, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) == 0 {
		return ""
	}
	return versionOf(t, out.Items[0])
}

// reads are all the ways to read the item that are eventually consistent.
func reads(t *testing.T, e *Engine) map[string]func() string {
	query := func(index *string, condition string) func() string {
		return func() string {
			return found(t, func() (*ReadOutput, error) {
				return e.Query(t.Context(), &ReadInput{TableName: new("tab"), IndexName: index, Expressions: Expressions{
					KeyCondition: &condition, Values: fields(":p", "p"), HasValues: true,
				}})
			})
		}
	}
	scan := func(index *string) func() string {
		return func() string {
			return found(t, func() (*ReadOutput, error) {
				return e.Scan(t.Context(), &ReadInput{TableName: new("tab"), IndexName: index})
			})
		}
	}
	return map[string]func() string{
		"GetItem": func() string { return version(t, e, false) },
		"BatchGetItem": func() string {
			out, err := e.BatchGetItem(t.Context(), &BatchGetItemInput{Tables: []BatchGetTable{{TableName: "tab", Keys: []attr.Item{fields("pk", "p", "sk", "s")}}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Responses[0].Items) == 0 {
				return ""
			}
			return versionOf(t, out.Responses[0].Items[0])
		},
		"Query":                query(nil, "pk = :p"),
		"Query global index":   query(new("byG"), "g = :p"),
		"Query local index":    query(new("local"), "pk = :p"),
		"Scan":                 scan(nil),
		"Scan of global index": scan(new("byG")),
	}
}

// With a fixed lag a write is seen exactly that much later by whoever does not
// ask for consistency, and at once by whoever does.
func TestLagIsExact(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const lag = time.Second
		e := laggard(t, Lag{Min: lag, Max: lag})
		put := func(v string) { putItem(t, e, "tab", fields("pk", "p", "sk", "s", "g", "p", "other", "o", "v", v)) }
		all := func(want string) {
			t.Helper()
			for name, read := range reads(t, e) {
				if got := read(); got != want {
					t.Errorf("%s: got version %q, want %q", name, got, want)
				}
			}
		}
		put("1")
		all("")
		time.Sleep(lag / 2)
		put("2")
		all("")
		if got := version(t, e, true); got != "2" {
			t.Errorf("a consistent read finds version %q", got)
		}
		time.Sleep(lag/2 - 1)
		all("")
		time.Sleep(time.Nanosecond)
		all("1")
		time.Sleep(lag / 2)
		all("2")
		deleteItem(t, e, "tab", fields("pk", "p", "sk", "s"))
		all("2")
		if got := version(t, e, true); got != "" {
			t.Errorf("a consistent read finds the deleted version %q", got)
		}
		time.Sleep(lag)
		all("")
		put("3")
		if n := len(e.past.ago); n != 1 {
			t.Errorf("%d moments are kept for one write", n)
		}
	})
}

// Nobody sees a restored table as it was before it was whole, though others write meanwhile.
func TestLagOfARestore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const lag = time.Second
		e := laggard(t, Lag{Min: lag, Max: lag})
		put := func(v string) { putItem(t, e, "tab", fields("pk", "p", "sk", "s", "g", "p", "other", "o", "v", v)) }
		put("1")
		time.Sleep(2 * lag)
		backup, err := e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("tab"), BackupName: new("backup")})
		if err != nil {
			t.Fatal(err)
		}
		put("2")
		if _, err := e.RestoreTableFromBackup(t.Context(), &RestoreInput{BackupARN: &backup.ARN, TargetTableName: new("restored")}); err != nil {
			t.Fatal(err)
		}
		waitWhole(t, e, "restored")
		time.Sleep(time.Millisecond)
		put("3")
		get, err := e.GetItem(t.Context(), &GetItemInput{TableName: new("restored"), Key: fields("pk", "p", "sk", "s"), HasKey: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := versionOf(t, get.Item); got != "1" {
			t.Errorf("GetItem: got version %q, want 1", got)
		}
		for _, index := range []*string{nil, new("byG")} {
			got := found(t, func() (*ReadOutput, error) {
				return e.Scan(t.Context(), &ReadInput{TableName: new("restored"), IndexName: index})
			})
			if got != "1" {
				t.Errorf("Scan: got version %q, want 1", got)
			}
		}
		batch, err := e.BatchGetItem(t.Context(), &BatchGetItemInput{Tables: []BatchGetTable{
			{TableName: "restored", Keys: []attr.Item{fields("pk", "p", "sk", "s")}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if items := batch.Responses[0].Items; len(items) != 1 || versionOf(t, items[0]) != "1" {
			t.Errorf("BatchGetItem: got %d items", len(items))
		}
	})
}

// What a read finds was there, between Max and Min ago. With the same seed it is
// the same.
func TestLagIsBounded(t *testing.T) {
	run := func(t *testing.T, seed uint64) (seen string) {
		bubble.Test(t, func(t *testing.T) {
			lag := Lag{Min: 100 * time.Millisecond, Max: time.Second, Seed: seed}
			e := laggard(t, lag)
			pauses := rand.New(rand.NewPCG(1, 2))
			var written []time.Time // by version
			for i := range 300 {
				putItem(t, e, "tab", fields("pk", "p", "sk", "s", "g", "p", "other", "o", "v", fmt.Sprint(i)))
				written = append(written, time.Now())
				time.Sleep(time.Duration(pauses.Int64N(int64(50 * time.Millisecond))))
				got := version(t, e, false)
				seen += got + " "
				if got == "" {
					if age := time.Since(written[0]); age > lag.Max {
						t.Fatalf("nothing is found %v after the first write", age)
					}
					continue
				}
				var v int
				if _, err := fmt.Sscan(got, &v); err != nil {
					t.Fatal(err)
				}
				if age := time.Since(written[v]); age < lag.Min {
					t.Fatalf("a version is found %v after it was written", age)
				}
				if v+1 < len(written) && time.Since(written[v+1]) > lag.Max {
					t.Fatalf("a version is found %v after it was overwritten", time.Since(written[v+1]))
				}
			}
		})
		return seen
	}
	first, again, other := run(t, 1), run(t, 1), run(t, 2)
	if first != again {
		t.Errorf("with the same seed it is not the same:\n%s\n%s", first, again)
	}
	if first == other {
		t.Error("with another seed it is the same")
	}
}

// Many writes and reads at once keep few moments, and none after Close.
func TestLagUnderLoad(t *testing.T) {
	e, err := Open(Options{Lag: &Lag{Max: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput("tab", "pk:S sk:S").withGlobal("byG", "g:S").withLocal("local", "pk:S other:S"))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 500 {
				putItem(t, e, "tab", fields("pk", "p", "sk", "s", "g", "p", "other", "o", "v", fmt.Sprint(i)))
				_ = version(t, e, false)
			}
		})
		group.Go(func() {
			every := reads(t, e)
			for range 20 {
				for _, read := range every {
					_ = read()
				}
			}
		})
	}
	group.Wait()
	if n := len(e.past.ago); n > maxMoments {
		t.Errorf("%d moments are kept", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// A moment that is too long ago stays while somebody reads it.
func TestMomentsStayWhileTheyAreRead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := laggard(t, Lag{Min: time.Second, Max: time.Second})
		put := func(v string) {
			putItem(t, e, "tab", fields("pk", "p", "sk", "s", "v", v))
			time.Sleep(time.Second / 2)
		}
		put("1")
		put("2")
		view, m := e.past.look(e.store.View, time.Time{})
		_, same := e.past.look(e.store.View, time.Time{})
		if m == nil || same != m {
			t.Fatal("want the moment before the last write, twice")
		}
		put("3")
		put("4")
		noError(t, e.past.looked(same))
		n := 0
		noError(t, each(view, store.Items(e.tables["tab"].record.ID), func(_, value []byte) error {
			if n++; versionOf(t, value) != "1" {
				t.Errorf("got version %s, want 1", versionOf(t, value))
			}
			return nil
		}))
		if n != 1 {
			t.Errorf("got %d items, want 1", n)
		}
		noError(t, e.past.looked(m))
	})
}

func TestLagFaults(t *testing.T) {
	for _, c := range []struct {
		lag  Lag
		want string
	}{
		{Lag{}, "Max must be positive"},
		{Lag{Min: -1, Max: time.Second}, "Min must not be negative"},
		{Lag{Min: 2 * time.Second, Max: time.Second}, "Min 2s is longer than Max 1s"},
		{Lag{Max: 2 * time.Hour}, "Max 2h0m0s is longer than 1h0m0s"},
	} {
		e, err := Open(Options{Lag: &c.lag})
		if err == nil {
			_ = e.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.lag, err, c.want)
		}
	}
}
