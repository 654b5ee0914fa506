package dump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// service answers as a test wants DynamoDB to. Functions that are nil are those of the Client.
type service struct {
	Client
	describe func() (*types.TableDescription, error)
	scan     func(*dynamodb.ScanInput) (*dynamodb.ScanOutput, error)
	write    func([]types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error)
}

func (s *service) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, with ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	if s.describe == nil {
		return s.Client.DescribeTable(ctx, in, with...)
	}
	d, err := s.describe()
	return &dynamodb.DescribeTableOutput{Table: d}, err
}

func (s *service) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if s.scan == nil {
		return s.Client.Scan(ctx, in, with...)
	}
	return s.scan(in)
}

func (s *service) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if s.write == nil {
		return s.Client.BatchWriteItem(ctx, in, with...)
	}
	return s.write(in.RequestItems[slices.Collect(maps.Keys(in.RequestItems))[0]])
}

var errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down"}

func thing(i int) Item { return Item{"pk": text(fmt.Sprint(i))} }

// pages is a service with a table of n pages of one item, which cost ten units each. The last one has an empty LastEvaluatedKey, where
// the engine's has none.
func pages(n int) *service {
	return &service{
		describe: func() (*types.TableDescription, error) {
			return &types.TableDescription{TableArn: aws.String("arn:aws:dynamodb:x:1:table/things"), TableId: aws.String("id"), KeySchema: keys("pk"), AttributeDefinitions: definitions("pk", "S")}, nil
		},
		scan: func(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
			i := 0
			if last := in.ExclusiveStartKey; last != nil {
				if _, err := fmt.Sscan(last["pk"].(*types.AttributeValueMemberS).Value, &i); err != nil {
					return nil, err
				}
				i++
			}
			out := &dynamodb.ScanOutput{
				Items: []Item{thing(i)}, LastEvaluatedKey: thing(i), ConsumedCapacity: &types.ConsumedCapacity{CapacityUnits: aws.Float64(10)},
			}
			if i == n-1 {
				out.LastEvaluatedKey = Item{}
			}
			return out, nil
		},
	}
}

// An export keeps to its rate, reads as it is told, and waits while the table throttles.
func TestExportKeepsToItsRate(t *testing.T) {
	for _, eventual := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			s, throttles := pages(7), 3
			scan := s.scan
			s.scan = func(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
				if *in.ConsistentRead == eventual {
					t.Errorf("eventual %t: got ConsistentRead %t", eventual, *in.ConsistentRead)
				}
				if throttles--; throttles >= 0 {
					return nil, errThrottled
				}
				return scan(in)
			}
			start := time.Now()
			out, err := Export(context.Background(), s, ExportOptions{Table: "things", Dir: t.TempDir(), Segments: 1, RCU: 5, Eventual: eventual})
			if err != nil || out.Items != 7 || out.Units != 70 {
				t.Fatalf("got %+v, %v", out, err)
			}
			if took, want := time.Since(start), 12*time.Second+7*firstPause; took != want { // the last page is not paid any more
				t.Errorf("took %v, want %v", took, want)
			}
		})
	}
}

// An export that cannot read all of a table is none.
func TestExportFails(t *testing.T) {
	broken := errors.New("broken")
	for what, spoil := range map[string]func(s *service, dir string){
		"a page": func(s *service, _ string) {
			scan := s.scan
			s.scan = func(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
				if in.ExclusiveStartKey != nil {
					return nil, broken
				}
				return scan(in)
			}
		},
		"a value of a type that nobody knows": func(s *service, _ string) {
			scan := s.scan
			s.scan = func(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
				out, err := scan(in)
				out.Items[0]["new"] = &types.UnknownUnionMember{Tag: "X"}
				return out, err
			}
		},
		"a manifest": func(s *service, dir string) {
			scan := s.scan
			s.scan = func(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
				at, err := filepath.Glob(filepath.Join(dir, exportsDir, "*", checkpointFile))
				if err != nil || len(at) != 1 {
					return nil, fmt.Errorf("checkpoints %q, %w", at, err)
				}
				_ = os.Mkdir(filepath.Join(filepath.Dir(at[0]), "manifest-files.md5"), 0o700)
				return scan(in)
			}
		},
	} {
		s, dir := pages(3), t.TempDir()
		spoil(s, dir)
		if out, err := Export(t.Context(), s, ExportOptions{Table: "things", Dir: dir, Segments: 1}); err == nil {
			t.Errorf("%s: got %+v", what, out)
		}
		if f, err := openFolder(t.Context(), dir); err == nil {
			t.Errorf("%s: there is an export in %s", what, f.path)
		}
	}
}

// Who finds a summary has a whole export: it is written last.
func TestSummaryIsWrittenLast(t *testing.T) {
	f := &folder{path: t.TempDir()}
	if err := os.Mkdir(filepath.Join(f.path, filesFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.write(); err == nil {
		t.Error("a manifest is written over a directory")
	}
	if _, err := os.Stat(filepath.Join(f.path, summaryFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a summary: %v", err)
	}
}

// An export that was cut short is of one table. Another one of the same name is exported from its beginning.
func TestExportOfAnotherTable(t *testing.T) {
	client, dir := local.Start(t).Client(), t.TempDir()
	export := func(left int64) (Result, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b := &breaking{Client: client, end: cancel}
		b.left.Store(left)
		return Export(ctx, b, ExportOptions{Table: "orders", Dir: dir, Segments: 1, fileBytes: 20_000})
	}
	orders(t, client, 100)
	if _, err := export(3); err == nil {
		t.Fatal("the export was not cut short")
	}
	if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
		t.Fatal(err)
	}
	orders(t, client, 40)
	if out, err := export(100); err != nil || out.Resumed || out.Items != 40 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// A finished export has the files of its manifest alone, and says how much they hold.
func TestFinishedExport(t *testing.T) {
	s, dir := pages(4), t.TempDir()
	out, err := Export(t.Context(), s, ExportOptions{Table: "things", Dir: dir, Segments: 1, fileBytes: 1, Progress: func(p Progress) {
		if p.Items != 3 {
			return
		}
		data, err := filepath.Glob(filepath.Join(dir, exportsDir, "*", dataDir))
		if err == nil && len(data) == 1 {
			err = os.WriteFile(filepath.Join(data[0], "0000-000007.json.gz"), nil, 0o600) // of a process that was killed
		}
		if err != nil {
			t.Error(err)
		}
	}})
	if err != nil || out.Files != 4 {
		t.Fatalf("got %+v, %v", out, err)
	}
	entries, err := os.ReadDir(filepath.Join(out.Path, dataDir))
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files lie there, %v; want 4", len(entries), err)
	}
	f, err := openFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	line, err := appendLine(nil, thing(0))
	if want := int64(4 * len(line)); err != nil || f.summary.BilledSizeBytes != want {
		t.Errorf("it has %d bytes, %v; want %d", f.summary.BilledSizeBytes, err, want)
	}
}

// writes returns an export of n items, and a service that counts what it is given of them.
func writes(t *testing.T, n int) (dir string, client *service, put map[string]int) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&lines, "{\"Item\":{\"pk\":{\"S\":\"%d\"}}}\n", i)
	}
	put = map[string]int{}
	var mu sync.Mutex
	s := &service{
		describe: func() (*types.TableDescription, error) {
			return &types.TableDescription{TableId: aws.String("id"), KeySchema: keys("pk"), AttributeDefinitions: definitions("pk", "S")}, nil
		},
		scan: func(*dynamodb.ScanInput) (*dynamodb.ScanOutput, error) { return &dynamodb.ScanOutput{}, nil },
		write: func(list []types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
			mu.Lock()
			defer mu.Unlock()
			for _, w := range list {
				put[w.PutRequest.Item["pk"].(*types.AttributeValueMemberS).Value]++
			}
			return &dynamodb.BatchWriteItemOutput{ConsumedCapacity: []types.ConsumedCapacity{{CapacityUnits: aws.Float64(float64(len(list)))}}}, nil
		},
	}
	return forged(t, lines.String(), func(*folder) {}), s, put
}

// An import keeps to its rate.
func TestImportKeepsToItsRate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir, s, put := writes(t, 100)
		start := time.Now()
		in, err := Import(context.Background(), s, ImportOptions{Dir: dir, Workers: 1, WCU: 5})
		if err != nil || in.Items != 100 || in.Units != 100 || len(put) != 100 {
			t.Fatalf("got %+v, %v, and %d items", in, err, len(put))
		}
		if took, want := time.Since(start), 15*time.Second; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
	})
}

// What a throttled table leaves is written again, and so is all of a request that it refuses.
func TestImportWritesWhatIsLeft(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir, s, put := writes(t, 60)
		write, requests := s.write, 0
		s.write = func(list []types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
			if requests++; requests%3 == 0 {
				return nil, errThrottled
			}
			some := (len(list) + 1) / 2
			out, err := write(list[:some])
			if some < len(list) {
				out.UnprocessedItems = map[string][]types.WriteRequest{"arn:aws:dynamodb:eu-west-1:123456789012:table/real": list[some:]}
			}
			return out, err
		}
		in, err := Import(context.Background(), s, ImportOptions{Dir: dir, Workers: 1})
		if err != nil || in.Items != 60 || len(put) != 60 {
			t.Fatalf("got %+v, %v, and %d items", in, err, len(put))
		}
		for key, n := range put {
			if n != 1 {
				t.Errorf("item %s was written %d times", key, n)
			}
		}
	})
}

// A checkpoint is of one export and one table. What it says of others is not believed.
func TestCheckpointOfAnotherImport(t *testing.T) {
	dir, s, put := writes(t, 30)
	f, err := openFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, filesFile))
	if err != nil {
		t.Fatal(err)
	}
	right := imported{ExportARN: f.summary.ExportARN, Manifest: checksum(manifest), TableID: "id", Files: []string{f.files[0].name()}}
	for what, c := range map[string]struct {
		change func(*imported)
		items  int
	}{
		"its own":          {func(*imported) {}, 0},
		"another export":   {func(c *imported) { c.ExportARN = "arn:other" }, 30},
		"another manifest": {func(c *imported) { c.Manifest = checksum(nil) }, 30},
		"another table":    {func(c *imported) { c.TableID = "other" }, 30},
	} {
		clear(put)
		found := right
		c.change(&found)
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "checkpoint.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Import(t.Context(), s, ImportOptions{Dir: dir, Checkpoint: path})
		if err != nil || in.Items != 30 || in.Resumed != (c.items == 0) || len(put) != c.items {
			t.Errorf("%s: got %+v, %v, and %d items", what, in, err, len(put))
		}
	}
}

// A table that an import creates is used when it is ACTIVE, also where it does not show at first.
func TestImportWaitsForItsTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{StatusDelay: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		dir, _, _ := writes(t, 5)
		s, asked := &service{Client: db.Client()}, 0
		s.describe = func() (*types.TableDescription, error) {
			if asked++; asked == 2 { // the first time it is not there
				return nil, &types.ResourceNotFoundException{}
			}
			out, err := s.Client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String("real")})
			if err != nil {
				return nil, err
			}
			return out.Table, nil
		}
		in, err := Import(context.Background(), s, ImportOptions{Dir: dir, Key: "pk:S"})
		if err != nil || in.Items != 5 || !in.Created {
			t.Errorf("got %+v, %v", in, err)
		}
	})
}

// The description of a table leaves out the indexes that are on their way in or out, and what only they need.
func TestSchemaOf(t *testing.T) {
	all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	global := func(name string, status types.IndexStatus, backfilling *bool) types.GlobalSecondaryIndexDescription {
		return types.GlobalSecondaryIndexDescription{IndexName: &name, IndexStatus: status, Backfilling: backfilling, KeySchema: keys(name + "Key"), Projection: all}
	}
	d := &types.TableDescription{
		KeySchema: keys("pk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndexDescription{
			global("there", types.IndexStatusActive, nil), global("updated", types.IndexStatusUpdating, nil), global("filled", types.IndexStatusCreating, aws.Bool(true)),
			global("allocated", types.IndexStatusCreating, aws.Bool(false)), global("removed", types.IndexStatusDeleting, nil),
		},
	}
	for _, name := range []string{"pk", "thereKey", "updatedKey", "filledKey", "allocatedKey", "removedKey"} {
		d.AttributeDefinitions = append(d.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: "S"})
	}
	s := schemaOf(d)
	var indexes, defined []string
	for _, x := range s.Global {
		indexes = append(indexes, x.IndexName)
	}
	for _, a := range s.AttributeDefinitions {
		defined = append(defined, *a.AttributeName)
	}
	if want := []string{"there", "updated"}; !reflect.DeepEqual(indexes, want) {
		t.Errorf("got indexes %q, want %q", indexes, want)
	}
	if want := []string{"pk", "thereKey", "updatedKey"}; !reflect.DeepEqual(defined, want) {
		t.Errorf("got definitions %q, want %q", defined, want)
	}
}

// Reading a file ends with the context, however long the file is.
func TestReadingEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := verifyFile(ctx, path, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("its MD5: got %v", err)
	}
	if _, err := readLines(ctx, path, func(int, string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("its lines: got %v", err)
	}
}
