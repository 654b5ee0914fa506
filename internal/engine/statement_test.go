package engine

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// say executes a statement.
func say(t testing.TB, e *Engine, text string, params ...attr.Value) (*StatementOutput, error) {
	t.Helper()
	return e.ExecuteStatement(t.Context(), &StatementInput{
		Statement: &text, Parameters: params, HasParameters: params != nil, ConsumedCapacity: "TOTAL",
	})
}

// said is say for a statement that must succeed.
func said(t testing.TB, e *Engine, text string, params ...attr.Value) *StatementOutput {
	t.Helper()
	out, err := say(t, e, text, params...)
	if err != nil {
		t.Fatalf("%.100s: %v", text, err)
	}
	return out
}

// wantRefusal checks that an error is a ValidationException with that message.
func wantRefusal(t testing.TB, what string, err error, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Type != TypeValidation || e.Message != message {
		t.Errorf("%s: got %v, want ValidationException: %s", what, err, message)
	}
}

// A NextToken goes on with the statement and the parameters that it is of, and
// with no others. What is no token is refused.
func TestNextTokenIsOfItsStatement(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S sk:S"))
	for i := range 6 {
		said(t, e, fmt.Sprintf("INSERT INTO things VALUE {'pk': 'p%d', 'sk': '%d'}", i%2, i))
	}
	page := func(text string, limit int64, token *string, params ...attr.Value) (*StatementOutput, error) {
		return e.ExecuteStatement(t.Context(), &StatementInput{
			Statement: &text, Parameters: params, HasParameters: params != nil, Limit: &limit, NextToken: token,
		})
	}
	const text = "SELECT sk FROM things WHERE pk IN [?, 'p0']"
	first, err := page(text, 2, nil, attr.String("p1"))
	if err != nil || len(first.Items) != 2 || first.NextToken == "" || first.LastEvaluatedKey == nil {
		t.Fatalf("first page: %+v, %v", first, err)
	}
	rest, err := page(text, 100, &first.NextToken, attr.String("p1"))
	if err != nil || len(rest.Items) != 4 || rest.NextToken != "" {
		t.Fatalf("rest: %+v, %v", rest, err)
	}
	const other = "NextToken does not match request"
	_, err = page(text, 2, &first.NextToken, attr.String("p2"))
	wantRefusal(t, "other parameters", err, other)
	_, err = page("SELECT sk FROM things", 2, &first.NextToken)
	wantRefusal(t, "other statement", err, other)
	for i := range len(first.NextToken) {
		for _, damaged := range []string{first.NextToken[:i], first.NextToken[:i] + "A" + first.NextToken[i+1:]} {
			if _, err = page(text, 2, &damaged, attr.String("p1")); err == nil && damaged != first.NextToken {
				t.Fatalf("token %q is accepted", damaged)
			}
		}
	}
	short := base64.StdEncoding.EncodeToString(seal([]byte{1}))
	in := &StatementInput{Statement: new(text), Parameters: []attr.Value{attr.String("p1")}}
	for what, token := range map[string]string{
		"no token":               "AAAA",
		"too short":              short,
		"a read too far":         in.sealed(2, nil),
		"a read beyond measure":  in.sealed(math.MaxInt, nil),
		"a read below the first": in.sealedAt(math.MaxUint64),
	} {
		_, err = page(text, 2, &token, attr.String("p1"))
		wantRefusal(t, what, err, "Invalid NextToken")
	}
}

// Limit counts what is read, over all reads of a SELECT, also where a key has one item at most.
func TestLimitOfSeveralReads(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S"))
	for _, key := range []string{"a", "b", "c"} {
		said(t, e, "INSERT INTO things VALUE {'pk': '"+key+"', 'odd': "+fmt.Sprint(key != "b")+"}")
	}
	in := &StatementInput{Statement: new("SELECT pk FROM things WHERE pk IN ['a', 'b', 'c'] AND odd = true ORDER BY pk"), Limit: new(int64(1))}
	for _, want := range []int{1, 0, 1} {
		out, err := e.ExecuteStatement(t.Context(), in)
		if err != nil || len(out.Items) != want {
			t.Fatalf("got %+v, %v; want %d items", out, err, want)
		}
		in.NextToken = &out.NextToken
	}
	if *in.NextToken != "" {
		t.Error("the last page has a token")
	}
}

// A token that was forged, of any position, is refused or goes on somewhere.
func FuzzNextToken(f *testing.F) {
	e := openEngine(f, Options{})
	createTable(f, e, newTableInput("things", "pk:S sk:N"))
	if _, err := e.ExecuteStatement(context.Background(), &StatementInput{Statement: new("INSERT INTO things VALUE {'pk': 'a', 'sk': 1}")}); err != nil {
		f.Fatal(err)
	}
	f.Add(0, []byte(attr.NewRaw(fields("pk", "a"))))
	f.Add(3, []byte{})
	f.Add(-1, []byte{1, 1, 255})
	f.Fuzz(func(t *testing.T, read int, key []byte) {
		for _, text := range []string{"SELECT * FROM things", "SELECT * FROM things WHERE pk IN ['a', 'b'] AND sk > 0"} {
			in := &StatementInput{Statement: &text}
			token := in.sealed(read, key)
			in.NextToken = &token
			if _, err := e.ExecuteStatement(context.Background(), in); err != nil && ErrorOf(err) == nil {
				t.Errorf("read %d, key %x: %v", read, key, err)
			}
		}
	})
}

// A statement has at most 8,192 bytes.
func TestStatementLength(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S"))
	const text = "SELECT * FROM things WHERE pk = 'x'"
	said(t, e, text+strings.Repeat(" ", maxStatement-len(text)))
	_, err := say(t, e, text+strings.Repeat(" ", maxStatement+1-len(text)))
	if err == nil || !strings.HasSuffix(err.Error(), "at 'statement' failed to satisfy constraint: Member must have length less than or equal to 8192") {
		t.Errorf("one more: got %v", err)
	}
}

// Items that statements make may have exactly 400 KB: unlike UpdateItem, an UPDATE
// adds nothing to their size.
func TestStatementItemSize(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S"))
	value := func(bytes int) attr.Value { return attr.String(strings.Repeat("x", bytes-len("pk")-len("k")-len("p"))) }
	said(t, e, "INSERT INTO things VALUE {'pk': 'k', 'p': ?}", value(maxItemSize))
	_, err := say(t, e, "INSERT INTO things VALUE {'pk': 'l', 'p': ?}", value(maxItemSize+1))
	wantRefusal(t, "insert", err, "Item size has exceeded the maximum allowed size")
	said(t, e, "UPDATE things SET p = ? WHERE pk = 'k'", value(maxItemSize))
	_, err = say(t, e, "UPDATE things SET p = ? WHERE pk = 'k'", value(maxItemSize+1))
	wantRefusal(t, "update", err, "Item size to update has exceeded the maximum allowed size")
}

// A page of many partition keys ends after a megabyte, and the pages together have
// each item once.
func TestSelectPagesEnd(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S sk:S"))
	list := make([]string, 10)
	for i := range list {
		list[i] = fmt.Sprintf("'%d'", i)
		said(t, e, fmt.Sprintf("INSERT INTO things VALUE {'pk': '%d', 'sk': 's', 'p': ?}", i), attr.String(strings.Repeat("x", 300<<10)))
	}
	text := "SELECT pk, p FROM things WHERE pk IN [" + strings.Join(list, ",") + "]"
	in := &StatementInput{Statement: &text}
	seen, pages := map[string]int{}, 0
	for {
		out, err := e.ExecuteStatement(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		size := 0
		for _, raw := range out.Items {
			seen[string(raw)]++
			size += raw.Size()
		}
		if size > maxPageBytes+300<<10+100 {
			t.Errorf("a page has %d bytes", size)
		}
		if out.NextToken == "" {
			break
		}
		in.NextToken = &out.NextToken
	}
	if len(seen) != 10 || pages != 3 {
		t.Errorf("got %d items on %d pages, want 10 on 3", len(seen), pages)
	}
	for _, n := range seen {
		if n != 1 {
			t.Errorf("an item came %d times", n)
		}
	}
}

// Statements are throttled by partition and told to observers by key, as the
// operations are that they consist of.
func TestStatementsAndPhysics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		told := map[string][2]float64{}
		e := openEngine(t, Options{
			Physics: &partition.Options{Partition: partition.Rate{Read: 10, Write: 10}, Window: time.Second, OnDemandPartitions: 1, NoSplits: true},
			Observe: func(a *Access) {
				if a.Reason == "" {
					key := strings.Join(a.Key, ",")
					told[key] = [2]float64{told[key][0] + a.ReadUnits, told[key][1] + a.WriteUnits}
				}
			},
		})
		createTable(t, e, newTableInput("things", "pk:S sk:S"))
		said(t, e, "INSERT INTO things VALUE {'pk': 'a', 'sk': '1'}")
		said(t, e, "UPDATE things SET p = ? WHERE pk = 'a' AND sk = '1'", attr.String(strings.Repeat("x", 1500)))
		said(t, e, "SELECT * FROM things WHERE pk = 'a'")
		said(t, e, "SELECT * FROM things WHERE pk IN ['b', 'a']")
		if want := map[string][2]float64{"a": {1, 3}, "b": {0.5, 0}}; fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("told %v, want %v", told, want)
		}
		writes := 0
		for ; writes < 1000; writes++ {
			if _, err := say(t, e, "UPDATE things SET n = 1 WHERE pk = 'a' AND sk = '1'"); err != nil {
				var answer *Error
				if !errors.As(err, &answer) || answer.Type != TypeThrottling || len(answer.Throttling) == 0 {
					t.Fatalf("write %d: %v", writes, err)
				}
				break
			}
		}
		if writes == 1000 {
			t.Fatal("a thousand writes of one partition, none throttled")
		}
		out, err := e.BatchExecuteStatement(t.Context(), &StatementsInput{
			HasStatements: true, Statements: []StatementInput{{Statement: new("DELETE FROM things WHERE pk = 'a' AND sk = '1'")}},
		})
		if err != nil || out.Responses[0].Code != "ThrottlingError" {
			t.Errorf("in a batch: got %+v, %v", out, err)
		}
		_, err = e.ExecuteTransaction(t.Context(), &StatementsInput{
			HasStatements: true, Statements: []StatementInput{{Statement: new("DELETE FROM things WHERE pk = 'a' AND sk = '1'")}},
		})
		var answer *Error
		if !errors.As(err, &answer) || len(answer.Reasons) != 1 || answer.Reasons[0].Code != "ThrottlingError" {
			t.Errorf("in a transaction: got %v", err)
		}
	})
}

// A SELECT of several partition keys that is throttled on its way returns what it
// has read, and where to go on.
func TestThrottledSelectReturnsItsBeginning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{Physics: &partition.Options{
			Partition: partition.Rate{Read: 10, Write: 1000}, Window: time.Second, OnDemandPartitions: 1, NoSplits: true,
		}})
		createTable(t, e, newTableInput("things", "pk:S sk:S"))
		var keys []string
		for i := range 20 {
			keys = append(keys, fmt.Sprintf("'%d'", i))
			said(t, e, fmt.Sprintf("INSERT INTO things VALUE {'pk': '%d', 'sk': 's', 'p': ?}", i), attr.String(strings.Repeat("x", 20<<10)))
		}
		text := "SELECT pk FROM things WHERE pk IN [" + strings.Join(keys, ",") + "]"
		in := &StatementInput{Statement: &text, ConsistentRead: true}
		seen, partial, throttled := map[string]bool{}, 0, 0
		for range 1000 {
			out, err := e.ExecuteStatement(t.Context(), in)
			if err != nil {
				throttled++
				time.Sleep(time.Second)
				continue
			}
			for _, raw := range out.Items {
				if seen[string(raw)] {
					t.Fatal("an item came twice")
				}
				seen[string(raw)] = true
			}
			if out.NextToken == "" {
				break
			}
			partial++
			in.NextToken = &out.NextToken
		}
		if len(seen) != 20 || partial == 0 || throttled == 0 {
			t.Errorf("got %d items with %d pages before the last and %d throttles; want 20, and some of each", len(seen), partial, throttled)
		}
	})
}

// A batch asks once before it returns more than a megabyte. Without room it does
// no more: what it refuses has not happened.
func TestBatchExecuteStatementAsksForMore(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S"))
	for _, room := range []bool{false, true} {
		var in StatementsInput
		for i := range 10 {
			_, _ = say(t, e, fmt.Sprintf("DELETE FROM things WHERE pk = '%d'", i))
			said(t, e, fmt.Sprintf("INSERT INTO things VALUE {'pk': '%d', 'p': ?}", i), attr.String(strings.Repeat("x", 300<<10)))
			in.Statements = append(in.Statements, StatementInput{Statement: new(fmt.Sprintf("DELETE FROM things WHERE pk = '%d' RETURNING ALL OLD *", i))})
		}
		in.Statements = append(in.Statements, StatementInput{Statement: new("DELETE")}) // what is wrong with it is told, room or not
		asked := 0
		in.HasStatements, in.More = true, func(context.Context) bool { asked++; return room }
		out, err := e.BatchExecuteStatement(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		if last := out.Responses[10]; last.Code != "ValidationError" {
			t.Errorf("no statement: got %+v", last)
		}
		for i, r := range out.Responses[:10] {
			left := len(said(t, e, fmt.Sprintf("SELECT pk FROM things WHERE pk = '%d'", i)).Items)
			switch {
			case r.Code == "" && r.Item != nil && left == 0:
				done++
			case r.Code != "ThrottlingError" || left != 1:
				t.Errorf("statement %d: %q, %d items left", i, r.Code, left)
			}
		}
		want := 4
		if room {
			want = 10
		}
		if done != want || asked != 1 {
			t.Errorf("room %v: %d done after asking %d times, want %d after 1", room, done, asked, want)
		}
	}
}

// Statements of one transaction may be many, and are as large as what they hold.
func TestExecuteTransactionLimits(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("things", "pk:S"))
	statements := func(n int) *StatementsInput {
		in := &StatementsInput{HasStatements: true}
		for i := range n {
			in.Statements = append(in.Statements, StatementInput{
				Statement:  new(fmt.Sprintf("INSERT INTO things VALUE {'pk': '%d', 'p': ?}", i)),
				Parameters: []attr.Value{attr.String("")}, HasParameters: true,
			})
		}
		return in
	}
	if _, err := e.ExecuteTransaction(t.Context(), statements(100)); err != nil {
		t.Error(err)
	}
	if _, err := e.ExecuteTransaction(t.Context(), statements(101)); err == nil || !strings.HasSuffix(err.Error(), "Member must have length less than or equal to 100") {
		t.Errorf("101 statements: got %v", err)
	}
	large := statements(11)
	for i := range large.Statements {
		large.Statements[i].Parameters[0] = attr.String(strings.Repeat("x", 390<<10))
	}
	if _, err := e.ExecuteTransaction(t.Context(), large); err == nil || !strings.Contains(err.Error(), "Transaction payload size cannot exceed 4MB") {
		t.Errorf("11 large statements: got %v", err)
	}
}

// A statement that cannot be done for now is no error of the batch, and one that ends with the request's context is.
func TestBatchExecuteStatementInTrouble(t *testing.T) {
	e, _ := openNearlyFull(t, Options{})
	in := &StatementsInput{HasStatements: true, Statements: []StatementInput{{Statement: new("INSERT INTO tab VALUE {'pk': 'c'}")}}}
	out, err := e.BatchExecuteStatement(t.Context(), in)
	if err != nil || out.Responses[0].Code != "InternalServerError" {
		t.Errorf("on a full disk: got %+v, %v", out, err)
	}
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		createTable(t, e, newTableInput("tab", "pk:S"))
		key := e.tables["tab"].itemKey(fields("pk", "c"))
		if free, err := e.locks.lock(t.Context(), key, false); !free || err != nil {
			t.Fatalf("got %t, %v", free, err)
		}
		defer e.locks.unlock(key)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.BatchExecuteStatement(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
	})
}

// sealedAt makes a token of a read that no position can have.
func (in *StatementInput) sealedAt(read uint64) string {
	b := binary.BigEndian.AppendUint64(nil, in.fingerprint())
	return base64.StdEncoding.EncodeToString(seal(binary.AppendUvarint(b, read)))
}

// sealed makes a token of anything.
func (in *StatementInput) sealed(read int, key []byte) string {
	valid, err := base64.StdEncoding.DecodeString(in.token(position{read: max(read, 0)}))
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(seal(append(valid[:len(valid)-tokenPart:len(valid)-tokenPart], key...)))
}
