package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// createStreamed creates a table with a stream and returns the stream's ARN.
func createStreamed(t *testing.T, e *Engine, name, viewType string) string {
	t.Helper()
	in := newTableInput(name, "pk:S")
	in.Stream = &StreamSpecification{Enabled: new(true), ViewType: &viewType}
	return createTable(t, e, in).LatestStreamARN
}

func switchStream(t *testing.T, e *Engine, table, viewType string) *TableDescription {
	t.Helper()
	spec := &StreamSpecification{Enabled: new(viewType != "")}
	if viewType != "" {
		spec.ViewType = &viewType
	}
	d, err := e.UpdateTable(t.Context(), &UpdateTableInput{TableName: &table, Stream: spec})
	if err != nil {
		t.Fatalf("switch stream of %s: %v", table, err)
	}
	return d
}

func describeStream(t *testing.T, e *Engine, arn string) *StreamDescription {
	t.Helper()
	d, err := e.DescribeStream(t.Context(), &DescribeStreamInput{StreamARN: &arn})
	if err != nil {
		t.Fatalf("describe stream %s: %v", arn, err)
	}
	return d
}

func shardIterator(t *testing.T, e *Engine, arn, shard, typ string, edit ...func(*GetShardIteratorInput)) string {
	t.Helper()
	in := &GetShardIteratorInput{StreamARN: &arn, ShardID: &shard, Type: &typ}
	for _, f := range edit {
		f(in)
	}
	i, err := e.GetShardIterator(t.Context(), in)
	if err != nil {
		t.Fatalf("iterate %s of shard %s: %v", typ, shard, err)
	}
	return i
}

func getRecords(t *testing.T, e *Engine, iterator string, limit ...int64) *GetRecordsOutput {
	t.Helper()
	in := &GetRecordsInput{ShardIterator: &iterator}
	for _, n := range limit {
		in.Limit = &n
	}
	out, err := e.GetRecords(t.Context(), in)
	if err != nil {
		t.Fatalf("get records: %v", err)
	}
	return out
}

// readStream reads all shards from the oldest record, in their order.
func readStream(t *testing.T, e *Engine, arn string) (records []StreamRecord) {
	t.Helper()
	for _, sh := range describeStream(t, e, arn).Shards {
		i := shardIterator(t, e, arn, sh.ShardID, "TRIM_HORIZON")
		for i != "" {
			out := getRecords(t, e, i)
			if records = append(records, out.Records...); len(out.Records) == 0 {
				break
			}
			i = out.NextIterator
		}
	}
	return records
}

// digest shows records as "INSERT pk=a old new".
func digest(t *testing.T, records []StreamRecord) (lines []string) {
	t.Helper()
	show := func(label string, raw attr.Raw) string {
		if raw == nil {
			return ""
		}
		it, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		parts := []string{" " + label}
		for _, f := range it {
			parts = append(parts, f.Name+"="+f.Value.Str)
		}
		return strings.Join(parts, " ")
	}
	for _, r := range records {
		lines = append(lines, r.EventName+show("keys", r.Keys)+show("old", r.OldImage)+show("new", r.NewImage))
	}
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestStreamViews(t *testing.T) {
	for view, want := range map[string][]string{
		"KEYS_ONLY":          {"INSERT keys pk=a", "MODIFY keys pk=a", "REMOVE keys pk=a"},
		"NEW_IMAGE":          {"INSERT keys pk=a new pk=a x=1", "MODIFY keys pk=a new pk=a x=2", "REMOVE keys pk=a"},
		"OLD_IMAGE":          {"INSERT keys pk=a", "MODIFY keys pk=a old pk=a x=1", "REMOVE keys pk=a old pk=a x=2"},
		"NEW_AND_OLD_IMAGES": {"INSERT keys pk=a new pk=a x=1", "MODIFY keys pk=a old pk=a x=1 new pk=a x=2", "REMOVE keys pk=a old pk=a x=2"},
	} {
		t.Run(view, func(t *testing.T) {
			e := openEngine(t, Options{})
			arn := createStreamed(t, e, "tab", view)
			putItem(t, e, "tab", fields("pk", "a", "x", "1"))
			putItem(t, e, "tab", fields("pk", "a", "x", "2"))
			putItem(t, e, "tab", fields("pk", "a", "x", "2")) // changes nothing
			deleteItem(t, e, "tab", fields("pk", "a"))
			deleteItem(t, e, "tab", fields("pk", "a")) // neither
			records := readStream(t, e, arn)
			wantLines(t, digest(t, records), want...)
			wantSize := map[string]int64{"KEYS_ONLY": 3, "NEW_IMAGE": 8, "OLD_IMAGE": 8, "NEW_AND_OLD_IMAGES": 13}[view]
			if got := records[1].SizeBytes; got != wantSize {
				t.Errorf("got a record of %d bytes, want %d", got, wantSize)
			}
			for i, r := range records {
				if len(r.EventID) != 32 || len(r.Sequence) != 21 || r.ViewType != view || r.Created.Nanosecond() != 0 || time.Since(r.Created) > time.Minute {
					t.Errorf("got record %+v", r)
				}
				if i > 0 && (r.Sequence <= records[i-1].Sequence || r.EventID == records[i-1].EventID) {
					t.Errorf("record %d comes after %+v: %+v", i, records[i-1], r)
				}
			}
		})
	}
}

func TestShardIteratorTypes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		shard := describeStream(t, e, arn).Shards[0]
		put := func(pk string) { putItem(t, e, "tab", fields("pk", pk)) }
		for _, pk := range []string{"a", "b", "c"} {
			time.Sleep(time.Minute)
			put(pk)
		}
		latest := shardIterator(t, e, arn, shard.ShardID, "LATEST")
		time.Sleep(time.Second)
		put("d")
		all := getRecords(t, e, shardIterator(t, e, arn, shard.ShardID, "TRIM_HORIZON")).Records
		wantLines(t, digest(t, all), "INSERT keys pk=a", "INSERT keys pk=b", "INSERT keys pk=c", "INSERT keys pk=d")
		wantLines(t, digest(t, getRecords(t, e, latest).Records), "INSERT keys pk=d")

		numbered := func(typ, number string) []string {
			i := shardIterator(t, e, arn, shard.ShardID, typ, func(in *GetShardIteratorInput) { in.SequenceNumber = &number })
			return digest(t, getRecords(t, e, i).Records)
		}
		wantLines(t, numbered("AT_SEQUENCE_NUMBER", all[2].Sequence), "INSERT keys pk=c", "INSERT keys pk=d")
		wantLines(t, numbered("AFTER_SEQUENCE_NUMBER", all[2].Sequence), "INSERT keys pk=d")
		if got := len(numbered("AT_SEQUENCE_NUMBER", shard.StartingSequence)); got != 4 {
			t.Errorf("got %d records from the shard's start, want 4", got)
		}
		timed := func(at time.Time) []string {
			i := shardIterator(t, e, arn, shard.ShardID, "AT_TIMESTAMP", func(in *GetShardIteratorInput) { in.Timestamp = &at })
			return digest(t, getRecords(t, e, i).Records)
		}
		wantLines(t, timed(all[1].Created), "INSERT keys pk=b", "INSERT keys pk=c", "INSERT keys pk=d")
		wantLines(t, timed(all[1].Created.Add(time.Millisecond)), "INSERT keys pk=c", "INSERT keys pk=d")
		if got := len(timed(time.Now().AddDate(-1, 0, 0))); got != 4 {
			t.Errorf("got %d records from a year ago on, want 4", got)
		}
	})
}

func TestShardIteratorRefuses(t *testing.T) {
	e := openEngine(t, Options{})
	arn := createStreamed(t, e, "tab", "KEYS_ONLY")
	shard := describeStream(t, e, arn).Shards[0]
	future := time.Now().Add(time.Hour)
	other := strings.Replace(arn, "/tab/", "/bat/", 1)
	invalid := "One or more parameter values were invalid: "
	for name, c := range map[string]struct {
		in        GetShardIteratorInput
		typ, want string
	}{
		"type": {GetShardIteratorInput{Type: new("FIRST")}, TypeValidation, "1 validation error detected: Value 'FIRST' at 'shardIteratorType' failed to satisfy constraint: " +
			"Member must satisfy enum value set: [AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, TRIM_HORIZON, LATEST, AT_TIMESTAMP]"},
		"stream":    {GetShardIteratorInput{StreamARN: &other}, TypeResourceNotFound, "Requested resource not found: Stream: " + other + " not found"},
		"no ARN":    {GetShardIteratorInput{StreamARN: new("nonsense")}, TypeValidation, "Invalid StreamArn"},
		"shard":     {GetShardIteratorInput{ShardID: new("shardId-00000000000000000001-00000000")}, TypeResourceNotFound, "Requested resource not found: Shard does not exist"},
		"no number": {GetShardIteratorInput{Type: new("AT_SEQUENCE_NUMBER")}, TypeValidation, invalid + "SequenceNumber must be specified when ShardIteratorType is AT_SEQUENCE_NUMBER"},
		"number":    {GetShardIteratorInput{SequenceNumber: &shard.StartingSequence}, TypeValidation, invalid + "SequenceNumber must not be specified when ShardIteratorType is LATEST"},
		"future":    {GetShardIteratorInput{Type: new("AT_TIMESTAMP"), Timestamp: &future}, TypeValidation, invalid + "Timestamp must not be in the future"},
		"foreign number": {
			GetShardIteratorInput{Type: new("AT_SEQUENCE_NUMBER"), SequenceNumber: new(showSequence(7))},
			TypeValidation, invalid + "SequenceNumber 100000000000000000007 is not in the shard " + shard.ShardID,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := GetShardIteratorInput{StreamARN: &arn, ShardID: &shard.ShardID, Type: new("LATEST")}
			for to, from := range map[**string]*string{&in.StreamARN: c.in.StreamARN, &in.ShardID: c.in.ShardID, &in.Type: c.in.Type} {
				if from != nil {
					*to = from
				}
			}
			in.SequenceNumber, in.Timestamp = c.in.SequenceNumber, c.in.Timestamp
			_, err := e.GetShardIterator(t.Context(), &in)
			wantError(t, err, c.typ, c.want)
		})
	}
	good := shardIterator(t, e, arn, shard.ShardID, "LATEST")
	for _, bad := range []string{"", "nonsense", good[:len(good)-4], strings.Replace(good, "/tab/", "/bat/", 1), arn + "|1|AAAA"} {
		_, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: &bad})
		wantError(t, err, TypeValidation, "Invalid ShardIterator")
	}
}

func TestRecordsComeInPages(t *testing.T) {
	e := openEngine(t, Options{})
	arn := createStreamed(t, e, "tab", "NEW_AND_OLD_IMAGES")
	shard := describeStream(t, e, arn).Shards[0].ShardID
	const small, large = 1200, 9
	for i := range small {
		putItem(t, e, "tab", fields("pk", fmt.Sprint(i)))
	}
	for i := range large {
		putItem(t, e, "tab", fields("pk", fmt.Sprint("large", i), "x", strings.Repeat("x", 300_000)))
	}
	count := func(limit ...int64) (pages []int) {
		i := shardIterator(t, e, arn, shard, "TRIM_HORIZON")
		for {
			out := getRecords(t, e, i, limit...)
			if len(out.Records) == 0 {
				return pages
			}
			pages, i = append(pages, len(out.Records)), out.NextIterator
		}
	}
	if got, want := count(), []int{1000, 203, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("got pages of %v records, want %v", got, want)
	}
	if got := count(7); len(got) != (small+7-1)/7+2 && got[0] != 7 {
		t.Errorf("got pages of %v records", got)
	}
	_, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: new("x"), Limit: new(int64(1001))})
	wantError(t, err, TypeValidation, "1 validation error detected: Value '1001' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 1000")
}

func TestStreamIsSwitched(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		createTable(t, e, newTableInput("tab", "pk:S"))
		d := switchStream(t, e, "tab", "NEW_IMAGE")
		if d.Status != "UPDATING" || d.StreamViewType != "NEW_IMAGE" || d.LatestStreamARN != d.ARN+"/stream/"+d.LatestStreamLabel || d.LatestStreamLabel != "2000-01-01T00:00:00.000" {
			t.Errorf("got %+v", d)
		}
		first := d.LatestStreamARN
		_, err := e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("tab"), Stream: &StreamSpecification{Enabled: new(true), ViewType: new("NEW_IMAGE")}})
		wantError(t, err, TypeValidation, "Table already has an enabled stream: TableName: tab")
		putItem(t, e, "tab", fields("pk", "a"))
		time.Sleep(time.Hour)
		d = switchStream(t, e, "tab", "")
		if d.StreamViewType != "" || d.LatestStreamARN != first {
			t.Errorf("got %+v", d)
		}
		putItem(t, e, "tab", fields("pk", "unseen"))
		second := switchStream(t, e, "tab", "KEYS_ONLY").LatestStreamARN
		putItem(t, e, "tab", fields("pk", "b"))
		if second == first {
			t.Error("two streams have one ARN")
		}
		was := describeStream(t, e, first)
		if was.Status != "DISABLED" || len(was.Shards) != 1 || was.Shards[0].EndingSequence == "" {
			t.Errorf("the disabled stream is %+v", was)
		}
		out := getRecords(t, e, shardIterator(t, e, first, was.Shards[0].ShardID, "TRIM_HORIZON"))
		wantLines(t, digest(t, out.Records), "INSERT keys pk=a new pk=a")
		if out.NextIterator != "" {
			t.Error("a closed shard that was read to its end goes on")
		}
		wantLines(t, digest(t, readStream(t, e, second)), "INSERT keys pk=b")

		deleteTable(t, e, "tab")
		third := createStreamed(t, e, "tab", "KEYS_ONLY")
		list := func() (arns []string) {
			out, err := e.ListStreams(t.Context(), &ListStreamsInput{TableName: new("tab")})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range out.Streams {
				arns = append(arns, s.ARN)
			}
			return arns
		}
		wantLines(t, list(), first, second, third)
		if got := describeStream(t, e, second).Status; got != "DISABLED" {
			t.Errorf("the stream of a deleted table is %s", got)
		}
		wantLines(t, digest(t, readStream(t, e, second)), "INSERT keys pk=b")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		wantLines(t, list(), third)
		_, err = e.DescribeStream(t.Context(), &DescribeStreamInput{StreamARN: &second})
		wantError(t, err, TypeResourceNotFound, "Requested resource not found: Stream: "+second+" not found")
		left := 0
		if err := each(e.store.View, store.Streams(), func(_, _ []byte) error { left++; return nil }); err != nil || left != 1 {
			t.Errorf("%d streams stored, want 1, %v", left, err)
		}
	})
}

// How long an iterator can be used, and a shard takes records, can be set.
func TestIteratorLife(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{IteratorLife: time.Second, ShardDuration: time.Minute})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		i := shardIterator(t, e, arn, describeStream(t, e, arn).Shards[0].ShardID, "TRIM_HORIZON")
		time.Sleep(time.Second)
		if _, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: &i}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
		_, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: &i})
		wantError(t, err, TypeExpiredIterator, "Shard iterator has expired")
		time.Sleep(time.Minute)
		if n := len(describeStream(t, e, arn).Shards); n != 2 {
			t.Errorf("got %d shards after a minute, want 2", n)
		}
	})
}

func TestShardsAreReplaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		first := describeStream(t, e, arn).Shards[0]
		putItem(t, e, "tab", fields("pk", "a"))
		i := shardIterator(t, e, arn, first.ShardID, "TRIM_HORIZON")
		time.Sleep(4*time.Hour + time.Second)
		putItem(t, e, "tab", fields("pk", "b"))
		shards := describeStream(t, e, arn).Shards
		if len(shards) != 2 || shards[0].EndingSequence == "" || shards[1].ParentShardID != first.ShardID || shards[1].EndingSequence != "" {
			t.Fatalf("got shards %+v", shards)
		}
		if shards[0].EndingSequence >= shards[1].StartingSequence || shards[0].ShardID >= shards[1].ShardID {
			t.Errorf("shards are out of order: %+v", shards)
		}
		wantLines(t, digest(t, readStream(t, e, arn)), "INSERT keys pk=a", "INSERT keys pk=b")

		_, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: &i})
		wantError(t, err, TypeExpiredIterator, "Shard iterator has expired")

		time.Sleep(4 * time.Hour)
		page := func(edit func(*DescribeStreamInput)) *StreamDescription {
			in := &DescribeStreamInput{StreamARN: &arn}
			edit(in)
			d, err := e.DescribeStream(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		d := page(func(in *DescribeStreamInput) { in.Limit = new(int64(2)) })
		if len(d.Shards) != 2 || d.LastEvaluatedShard != d.Shards[1].ShardID {
			t.Errorf("first page: %+v", d)
		}
		d = page(func(in *DescribeStreamInput) { in.ExclusiveStartShard = &d.LastEvaluatedShard })
		if len(d.Shards) != 1 || d.LastEvaluatedShard != "" {
			t.Errorf("second page: %+v", d)
		}
		d = page(func(in *DescribeStreamInput) { in.FilterType, in.FilterShard = new("CHILD_SHARDS"), &shards[0].ShardID })
		if len(d.Shards) != 1 || d.Shards[0].ShardID != shards[1].ShardID {
			t.Errorf("children: %+v", d.Shards)
		}
	})
}

func TestRecordsAreTrimmed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		shard := describeStream(t, e, arn).Shards[0].ShardID
		putItem(t, e, "tab", fields("pk", "a"))
		number := readStream(t, e, arn)[0].Sequence
		time.Sleep(3 * time.Hour)
		putItem(t, e, "tab", fields("pk", "b"))
		time.Sleep(20*time.Hour + 50*time.Minute)
		wantLines(t, digest(t, readStream(t, e, arn)), "INSERT keys pk=a", "INSERT keys pk=b")
		at := shardIterator(t, e, arn, shard, "AT_SEQUENCE_NUMBER", func(in *GetShardIteratorInput) { in.SequenceNumber = &number })
		oldest := shardIterator(t, e, arn, shard, "TRIM_HORIZON")
		time.Sleep(12 * time.Minute)

		_, err := e.GetRecords(t.Context(), &GetRecordsInput{ShardIterator: &at})
		wantError(t, err, TypeTrimmedDataAccess, "The data you are trying to access has been trimmed")
		_, err = e.GetShardIterator(t.Context(), &GetShardIteratorInput{StreamARN: &arn, ShardID: &shard, Type: new("AFTER_SEQUENCE_NUMBER"), SequenceNumber: &number})
		wantError(t, err, TypeTrimmedDataAccess, "The data you are trying to access has been trimmed")
		wantLines(t, digest(t, getRecords(t, e, oldest).Records), "INSERT keys pk=b")

		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if got := readStream(t, e, arn); len(got) != 0 {
			t.Errorf("got %d records after a day, want none", len(got))
		}
		for _, sh := range describeStream(t, e, arn).Shards {
			if sh.ShardID == shard {
				t.Error("a shard without records is still there")
			}
		}
		left := 0
		r := store.Records(e.streams[arn].id, 0, maxSequence)
		if err := each(e.store.View, r, func(_, _ []byte) error { left++; return nil }); err != nil || left != 0 {
			t.Errorf("%d records stored, %v", left, err)
		}
	})
}

// TestIdleReaderMissesNothing reads an idle shard for more than a day: a reader
// that keeps up is never told that something was trimmed.
func TestIdleReaderMissesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{ShardDuration: 72 * time.Hour})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		i := shardIterator(t, e, arn, describeStream(t, e, arn).Shards[0].ShardID, "LATEST")
		for range 25 * 5 {
			time.Sleep(12 * time.Minute)
			out := getRecords(t, e, i)
			if len(out.Records) != 0 {
				t.Fatalf("got %v from an idle stream", digest(t, out.Records))
			}
			i = out.NextIterator
		}
		putItem(t, e, "tab", fields("pk", "a"))
		wantLines(t, digest(t, getRecords(t, e, i).Records), "INSERT keys pk=a")
	})
}

func TestStreamSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		open := func() *Engine {
			e, err := Open(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		e := open()
		arn := createStreamed(t, e, "tab", "NEW_AND_OLD_IMAGES")
		putItem(t, e, "tab", fields("pk", "a"))
		i := shardIterator(t, e, arn, describeStream(t, e, arn).Shards[0].ShardID, "LATEST")
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open()
		putItem(t, e, "tab", fields("pk", "b"))
		wantLines(t, digest(t, readStream(t, e, arn)), "INSERT keys pk=a new pk=a", "INSERT keys pk=b new pk=b")
		wantLines(t, digest(t, getRecords(t, e, i).Records), "INSERT keys pk=b new pk=b")
		before := describeStream(t, e, arn)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		e = open()
		defer e.Close()
		synctest.Wait() // the shard's four hours passed meanwhile
		after := describeStream(t, e, arn)
		if len(after.Shards) != 2 || after.Shards[1].ParentShardID != before.Shards[0].ShardID || !after.Created.Equal(before.Created) {
			t.Errorf("got %+v", after)
		}
		putItem(t, e, "tab", fields("pk", "c"))
		wantLines(t, digest(t, readStream(t, e, arn)), "INSERT keys pk=a new pk=a", "INSERT keys pk=b new pk=b", "INSERT keys pk=c new pk=c")
	})
}

// TestReadersFollowWriters checks that readers see every record, once and in
// order, while many write and shards come and go.
func TestReadersFollowWriters(t *testing.T) {
	e := openEngine(t, Options{ShardDuration: 20 * time.Millisecond})
	arn := createStreamed(t, e, "tab", "NEW_IMAGE")
	const writers, writes = 4, 300
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for n := range writes {
				putItem(t, e, "tab", fields("pk", fmt.Sprint("w", w), "n", n))
				if n%50 == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	seen := map[string]int64{}
	total := 0
	shard := describeStream(t, e, arn).Shards[0].ShardID
	deadline := time.Now().Add(time.Minute)
	for total < writers*writes && time.Now().Before(deadline) {
		i := shardIterator(t, e, arn, shard, "TRIM_HORIZON")
		for i != "" && total < writers*writes && time.Now().Before(deadline) {
			out := getRecords(t, e, i)
			for _, r := range out.Records {
				it, err := r.NewImage.Decode()
				if err != nil {
					t.Fatal(err)
				}
				n, _ := it.Get("n").Number().Int64()
				pk := it.Get("pk").Str
				if last, ok := seen[pk]; ok && n != last+1 || !ok && n != 0 {
					t.Fatalf("%s: got %d after %d", pk, n, last)
				}
				seen[pk] = n
				total++
			}
			i = out.NextIterator
		}
		if total == writers*writes {
			break
		}
		d, err := e.DescribeStream(t.Context(), &DescribeStreamInput{StreamARN: &arn, FilterType: new("CHILD_SHARDS"), FilterShard: &shard})
		if err != nil {
			t.Fatal(err)
		}
		shard = d.Shards[0].ShardID
	}
	work.Wait()
	if total != writers*writes {
		t.Errorf("got %d records, want %d", total, writers*writes)
	}
	if len(describeStream(t, e, arn).Shards) < 2 {
		t.Log("no shard was replaced")
	}
}

func TestStreamsAreListedInPages(t *testing.T) {
	e := openEngine(t, Options{})
	for i := range 5 {
		createStreamed(t, e, fmt.Sprint("tab", i), "KEYS_ONLY")
	}
	var names []string
	in := &ListStreamsInput{Limit: new(int64(2))}
	for {
		out, err := e.ListStreams(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range out.Streams {
			names = append(names, s.TableName)
		}
		if out.LastEvaluated == "" {
			break
		}
		in.ExclusiveStart = &out.LastEvaluated
	}
	wantLines(t, names, "tab0", "tab1", "tab2", "tab3", "tab4")
	_, err := e.ListStreams(t.Context(), &ListStreamsInput{ExclusiveStart: new("nonsense")})
	wantError(t, err, TypeValidation, "Invalid StreamArn")
}

func TestRecordCoding(t *testing.T) {
	m := &streamRecord{ARN: "arn", ViewType: "NEW_AND_OLD_IMAGES"}
	keys := fields("pk", "a")
	old, next := attr.NewRaw(fields("pk", "a", "x", "1")), attr.NewRaw(fields("pk", "a", "x", "22"))
	stored := appendRecord(nil, 300, m.ViewType, keys, old, next, false)
	if got := recordShard(stored); got != 300 {
		t.Errorf("got shard %d, want 300", got)
	}
	r, err := decodeRecord(stored, 1_700_000_000_123_456, m)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, digest(t, []StreamRecord{r}), "MODIFY keys pk=a old pk=a x=1 new pk=a x=22")
	if want := time.Unix(1_700_000_000, 0).UTC(); r.Created != want || r.Sequence != "100001700000000123456" {
		t.Errorf("got %v, %s", r.Created, r.Sequence)
	}
	for n := range len(stored) - len(keys) {
		if r, err := decodeRecord(stored[:n], 1, m); err != nil && !errors.Is(err, errDamagedRecord) {
			t.Errorf("cut at %d: got %+v, %v", n, r, err)
		}
	}
	for _, n := range []uint64{0, 1, 1 << 40, maxSequence} {
		if got, ok := parseSequence(showSequence(n)); !ok || got != n {
			t.Errorf("got %d, %t for %d", got, ok, n)
		}
	}
	for _, bad := range []string{"", "1", "000000000000000000001", "199999999999999999999", "10000000000000000000x", "1000000000000000000000"} {
		if n, ok := parseSequence(bad); ok {
			t.Errorf("%q is taken for %d", bad, n)
		}
	}
}
