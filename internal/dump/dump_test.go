package dump

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/local"
)

// orders creates a table with an index and n items of every type.
func orders(t *testing.T, client *dynamodb.Client, n int) {
	t.Helper()
	s := &schema{
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "N"},
			{AttributeName: aws.String("day"), AttributeType: "S"},
		},
		KeySchema: keys("pk", "sk"),
		Local:     []index{{"byDay", keys("pk", "day"), types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}},
		Global:    []index{{"days", keys("day"), types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"b"}}}},
	}
	if _, err := client.CreateTable(t.Context(), s.input("orders")); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		it := Item{
			"pk": text(fmt.Sprint("p", i%7)), "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(i)},
			"day":   text("mon"),
			"b":     &types.AttributeValueMemberB{Value: []byte{0, 255, byte(i)}},
			"flag":  &types.AttributeValueMemberBOOL{Value: i%2 == 0},
			"none":  &types.AttributeValueMemberNULL{Value: true},
			"ss":    &types.AttributeValueMemberSS{Value: []string{"b", "a\n\"ü"}},
			"ns":    &types.AttributeValueMemberNS{Value: []string{"1e100", "-0.5"}},
			"bs":    &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
			"deep":  &types.AttributeValueMemberM{Value: Item{"list": &types.AttributeValueMemberL{Value: []types.AttributeValue{text(""), &types.AttributeValueMemberM{Value: Item{}}}}}},
			"large": text(strings.Repeat("x", 1000)),
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func keys(names ...string) (list []types.KeySchemaElement) {
	for i, name := range names {
		list = append(list, types.KeySchemaElement{AttributeName: &name, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}
	return list
}

// contents returns the items of a table, by their lines.
func contents(t *testing.T, client *dynamodb.Client, table string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			line, err := appendLine(nil, it)
			if err != nil {
				t.Fatal(err)
			}
			all[string(line)] = true
		}
	}
	return all
}

func TestExportIsImported(t *testing.T) {
	db, dir := local.Start(t), t.TempDir()
	orders(t, db.Client(), 500)
	pages := &breaking{Client: db.Client()}
	pages.left.Store(1000)
	out, err := Export(t.Context(), pages, ExportOptions{Table: "orders", Dir: dir, Segments: 3, fileBytes: 80_000})
	if err != nil || out.Items != 500 || out.Files < 6 || out.Resumed || out.Units == 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(out.Path, checkpointFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the checkpoint is still there: %v", err)
	}
	in, err := Import(t.Context(), db.Client(), ImportOptions{Dir: dir, Table: "copy"})
	if err != nil || in.Items != 500 || in.Files != out.Files || !in.Created {
		t.Fatalf("got %+v, %v", in, err)
	}
	if got, want := contents(t, db.Client(), "copy"), contents(t, db.Client(), "orders"); !reflect.DeepEqual(got, want) {
		t.Error("the items are not the same")
	}
	var schemas []*schema
	for _, name := range []string{"orders", "copy"} {
		d, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, schemaOf(d.Table))
	}
	if !reflect.DeepEqual(schemas[0], schemas[1]) {
		t.Errorf("the copy is %+v, want %+v", schemas[1], schemas[0])
	}
	if _, err := Import(t.Context(), db.Client(), ImportOptions{Dir: dir, Table: "copy"}); !errors.As(err, new(*NotEmptyError)) {
		t.Errorf("an import into a table with items: %v", err)
	}
	if in, err := Import(t.Context(), db.Client(), ImportOptions{Dir: out.Path, Replace: true, Workers: 1}); err != nil || in.Table != "orders" || in.Items != 500 {
		t.Errorf("got %+v, %v", in, err)
	}
	if _, err := Export(t.Context(), db.Client(), ExportOptions{Table: "orders", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), db.Client(), ImportOptions{Dir: dir, Table: "third"}); err == nil || !strings.Contains(err.Error(), "it has 2 exports: name one of them") {
		t.Errorf("two exports: %v", err)
	}
}

// breaking is a client that ends a context after some requests.
type breaking struct {
	Client
	left atomic.Int64
	end  context.CancelFunc
}

func (b *breaking) count() {
	if b.left.Add(-1) < 0 {
		b.end()
	}
}

func (b *breaking) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	in.Limit = aws.Int32(20) // many pages
	b.count()
	return b.Client.Scan(ctx, in, with...)
}

func (b *breaking) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	b.count()
	return b.Client.BatchWriteItem(ctx, in, with...)
}

// Exports and imports that are cut short, again and again, go on where they were.
func TestCutShortGoesOn(t *testing.T) {
	db, dir := local.Start(t), t.TempDir()
	orders(t, db.Client(), 400)
	attempts, resumed, files := 0, false, 0
	repeat := func(do func(context.Context, Client) (Result, error)) {
		t.Helper()
		attempts, resumed = 0, false
		for {
			ctx, cancel := context.WithCancel(t.Context())
			b := &breaking{Client: db.Client(), end: cancel}
			b.left.Store(6) // fewer than all of it takes: each attempt must keep something for the next
			out, err := do(ctx, b)
			cancel()
			attempts++
			resumed = resumed || out.Resumed
			if err == nil {
				if out.Items != 400 {
					t.Fatalf("got %+v", out)
				}
				files = out.Files
				return
			}
			if !errors.Is(err, context.Canceled) || attempts > 100 {
				t.Fatalf("attempt %d: %+v, %v", attempts, out, err)
			}
		}
	}
	repeat(func(ctx context.Context, c Client) (Result, error) {
		return Export(ctx, c, ExportOptions{Table: "orders", Dir: dir, Segments: 2, fileBytes: 40_000})
	})
	if attempts < 3 || !resumed {
		t.Errorf("%d attempts, resumed: %t", attempts, resumed)
	}
	if f, err := openFolder(t.Context(), dir); err != nil {
		t.Error(err)
	} else if entries, err := os.ReadDir(filepath.Join(f.path, dataDir)); err != nil || len(entries) != len(f.files) || files != len(f.files) {
		t.Errorf("%d files lie there, %v, and %d are told of; want %d", len(entries), err, files, len(f.files))
	}
	repeat(func(ctx context.Context, c Client) (Result, error) {
		return Import(ctx, c, ImportOptions{Dir: dir, Table: "copy", Workers: 2})
	})
	if attempts < 3 || !resumed {
		t.Errorf("%d attempts, resumed: %t", attempts, resumed)
	}
	if got, want := contents(t, db.Client(), "copy"), contents(t, db.Client(), "orders"); !reflect.DeepEqual(got, want) {
		t.Error("the items are not the same")
	}
}

// forged writes an export of a file with some lines, whose manifests a test may spoil.
func forged(t *testing.T, lines string, spoil func(*folder)) string {
	t.Helper()
	f := &folder{path: t.TempDir()}
	if err := os.Mkdir(filepath.Join(f.path, dataDir), 0o700); err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := int64(strings.Count(lines, "\n"))
	f.files = []dataFile{{ItemCount: n, MD5: checksum(zipped.Bytes()), DataFileS3Key: "my/prefix/AWSDynamoDB/1-2/data/abc.json.gz", ETag: "x-1"}}
	f.summary = summary{Version: "2020-06-30", TableARN: "arn:aws:dynamodb:eu-west-1:123456789012:table/real", ItemCount: n, OutputFormat: dynamoDBJSON}
	if err := os.WriteFile(filepath.Join(f.path, dataDir, "abc.json.gz"), zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	spoil(f)
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	return f.path
}

func TestDamagedExportsAreRefused(t *testing.T) {
	const two = "{\"Item\":{\"id\":{\"S\":\"a\"}}}\n{\"Item\":{\"id\":{\"S\":\"b\"}}}\n"
	nothing := func(*folder) {}
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var cut bytes.Buffer
	w := gzip.NewWriter(&cut)
	for i := range 1000 {
		_, _ = fmt.Fprintf(w, "{\"Item\":{\"id\":{\"S\":\"%d\"}}}\n", i)
	}
	_ = w.Close()
	for _, c := range []struct {
		name, lines string
		spoil       func(*folder)
		after       func(t *testing.T, dir string)
		want        string
	}{
		{"data file changed", two, nothing, func(t *testing.T, dir string) { write(t, filepath.Join(dir, "data", "abc.json.gz"), "other") }, "the file is damaged or cut off"},
		{"data file gone", two, nothing, func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "data", "abc.json.gz")) }, "copy the whole export, with its directory data"},
		{"data file cut off", two, func(f *folder) {
			half := cut.Bytes()[:cut.Len()-10]
			f.files[0].MD5 = checksum(half)
			f.summary.ItemCount, f.files[0].ItemCount = 1000, 1000
			_ = os.WriteFile(filepath.Join(f.path, "data", "abc.json.gz"), half, 0o600)
		}, nil, "the file is cut off"},
		{"data file cut off in a line", two, func(f *folder) {
			half := cut.Bytes()[:cut.Len()/2]
			f.files[0].MD5 = checksum(half)
			f.summary.ItemCount, f.files[0].ItemCount = 1000, 1000
			_ = os.WriteFile(filepath.Join(f.path, "data", "abc.json.gz"), half, 0o600)
		}, nil, "the file is cut off"},
		{"summary changed", two, nothing, func(t *testing.T, dir string) { write(t, filepath.Join(dir, summaryFile), "{}") }, "its MD5 is"},
		{"files changed", two, nothing, func(t *testing.T, dir string) { write(t, filepath.Join(dir, filesFile), "") }, "its MD5 is"},
		{"no manifest", two, nothing, func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, summaryFile)) }, "no finished export in it"},
		{"fewer items than the summary", two, func(f *folder) { f.summary.ItemCount = 3 }, nil, "its files have 2 items together, but the summary says 3"},
		{"fewer items than the manifest", two, func(f *folder) { f.summary.ItemCount, f.files[0].ItemCount = 3, 3 }, nil, "it has 2 items, but the manifest says 3"},
		{"more items than the manifest", two, func(f *folder) { f.summary.ItemCount, f.files[0].ItemCount = 1, 1 }, nil, "it has more than the 1 items that the manifest says"},
		{"Ion", two, func(f *folder) { f.summary.OutputFormat = "ION" }, nil, `its format is "ION"`},
		{"incremental, without a table", two, func(f *folder) { f.summary.ExportType = incrementalExport }, nil, "table real does not exist, and"},
		{"another type", two, func(f *folder) { f.summary.ExportType = "NEW_EXPORT" }, nil, `it is an export of type "NEW_EXPORT", but only`},
		{"an incremental line", "{\"Keys\":{}}\n", nothing, nil, "line 1: not an item in DynamoDB JSON: it is a line of an incremental export"},
		{"a file outside", two, func(f *folder) { f.files[0].DataFileS3Key = "data/.." }, nil, "is not the key of a data file"},
		{"a count below zero", two, func(f *folder) { f.summary.ItemCount, f.files[0].ItemCount = -1, -1 }, nil, "line 1: -1 items"},
		{"a file twice", two, func(f *folder) { f.files = append(f.files, f.files[0]) }, nil, "is there twice"},
		{"no MD5", two, func(f *folder) { f.files[0].MD5 = "x" }, nil, "is not an MD5"},
		{"no item", "{}\n", nothing, nil, "line 1: not an item in DynamoDB JSON: it has no Item"},
		{"no name", "{\"Item\":{\"id\":{\"S\":\"a\"},\"\":{\"S\":\"b\"}}}\n", nothing, nil, "line 1: not an item in DynamoDB JSON: Empty attribute name"},
		{"no JSON", "what\n", nothing, nil, "line 1: not an item"},
		{"half a line", two + "{\"Item\":{\"id\"\n", nothing, nil, "line 3: not an item"},
		{"wrong type", "{\"Item\":{\"id\":{\"S\":1}}}\n", nothing, nil, "line 1: not an item"},
		{"no number", "{\"Item\":{\"id\":{\"N\":\"x\"}}}\n", nothing, nil, `attribute "id": `},
		{"too long a line", "{\"Item\":{\"id\":{\"S\":\"" + strings.Repeat("a", maxLine) + "\"}}}\n", nothing, nil, "more than any item"},
		{"too large an item", "{\"Item\":{\"id\":{\"S\":\"" + strings.Repeat("a", maxItem) + "\"}}}\n", nothing, nil, "the most that DynamoDB stores"},
		{"another key", "{\"Item\":{\"it\":{\"S\":\"a\"}}}\n", nothing, nil, `abc.json.gz, line 1: it has no attribute "id", but the key of the table is id:S`},
		{"a key of another type", "{\"Item\":{\"id\":{\"N\":\"1\"}}}\n", nothing, nil, `line 1: its attribute "id" is of type N, but the key of the table is id:S`},
		{"the same item twice", "{\"Item\":{\"id\":{\"S\":\"a\"}}}\n{\"Item\":{\"id\":{\"S\":\"a\"}}}\n", nothing, nil, "line 1, and would replace it; the table with the key id:S is not like the exported one: is a sort key missing (--sort)?"},
		{"a manifest that is no file", two, nothing, func(t *testing.T, dir string) {
			path := filepath.Join(dir, filesFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "manifest-files.json: not a file"},
		{"an MD5 that is no file", two, nothing, func(t *testing.T, dir string) {
			path := filepath.Join(dir, "manifest-summary.md5")
			if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "manifest-summary.md5: not a file"},
		{"a pipe", two, nothing, func(t *testing.T, dir string) {
			path := filepath.Join(dir, "data", "abc.json.gz")
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil { // a directory is no file either, on every system
				t.Fatal(err)
			}
		}, "not a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := forged(t, c.lines, c.spoil)
			if c.after != nil {
				c.after(t, dir)
			}
			client := local.Start(t).Client()
			_, err := Import(t.Context(), client, ImportOptions{Dir: dir, Key: "id:S"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if all, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil || strings.Contains(c.want, "the key") && len(all.TableNames) > 0 {
				t.Errorf("got tables %v, %v, want none with a key that the export does not have", all.TableNames, err)
			}
		})
	}
}

// A file with more items than the manifest says is given up before they are written.
func TestImportWritesNoMoreThanTheManifestSays(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		_, _ = fmt.Fprintf(&lines, "{\"Item\":{\"id\":{\"S\":\"%d\"}}}\n", i)
	}
	dir, client := forged(t, lines.String(), func(f *folder) { f.summary.ItemCount, f.files[0].ItemCount = 60, 60 }), local.Start(t).Client()
	if _, err := Import(t.Context(), client, ImportOptions{Dir: dir, Key: "id:S"}); err == nil || !strings.Contains(err.Error(), "it has more than the 60 items") {
		t.Errorf("got %v", err)
	}
	if n := len(contents(t, client, "real")); n > 60 {
		t.Errorf("%d items were written", n)
	}
}

// A table that exists may have another key than the export, so that items would replace each other, however far apart they are.
func TestImportLosesNoItems(t *testing.T) {
	var lines strings.Builder
	for i := range 3 * recent / 2 {
		n := i
		if i == recent {
			n = 1 // as in line 2
		}
		_, _ = fmt.Fprintf(&lines, "{\"Item\":{\"id\":{\"S\":\"%d\"}}}\n", n)
	}
	dir, db := forged(t, lines.String(), func(*folder) {}), local.Start(t)
	if err := db.CreateTable(t.Context(), "real", "id"); err != nil {
		t.Fatal(err)
	}
	_, err := Import(t.Context(), db.Client(), ImportOptions{Dir: dir})
	if want := fmt.Sprintf("line %d: its key is that of ", recent+1); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 2, and would replace it") {
		t.Errorf("got %v, want %q", err, want)
	}
	for _, c := range []struct{ key, sort, want string }{
		{"zzz:N", "q:B", "table real has the key id:S, but zzz:N and q:B is given: give none, as the table exists"},
		{"id:S", "q:B", "but id:S and q:B is given"},
		{"id:N", "", "but id:N is given"},
	} {
		if _, err := Import(t.Context(), db.Client(), ImportOptions{Dir: dir, Key: c.key, Sort: c.sort, Replace: true}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// full is a client whose table takes and gives nothing for a while.
type full struct {
	Client
	left atomic.Int64
}

func (f *full) refuse() error {
	if f.left.Add(-1) >= 0 {
		return &smithy.GenericAPIError{Code: "ServiceUnavailable", Message: "the disk is full: free space on it"}
	}
	return nil
}

func (f *full) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if err := f.refuse(); err != nil {
		return nil, err
	}
	return f.Client.BatchWriteItem(ctx, in, o...)
}

func (f *full) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if err := f.refuse(); err != nil {
		return nil, err
	}
	return f.Client.Scan(ctx, in, o...)
}

// Who waits hears what for.
func TestWaitingIsTold(t *testing.T) {
	db, dir := local.Start(t), t.TempDir()
	orders(t, db.Client(), 30)
	var waits []string
	went := 0
	note := func(p Progress) {
		if p.Waiting != "" {
			waits = append(waits, p.Waiting)
		} else {
			went++
		}
	}
	const want = "ServiceUnavailable: the disk is full: free space on it"
	check := func(what string, err error) {
		t.Helper()
		if err != nil || len(waits) != 2 || waits[0] != want || went == 0 {
			t.Errorf("%s: got %v, waits %q and %d other words, want two waits: %s", what, err, waits, went, want)
		}
		waits, went = nil, 0
	}
	client := &full{Client: db.Client()}
	client.left.Store(2)
	_, err := Export(t.Context(), client, ExportOptions{Table: "orders", Dir: dir, Segments: 1, Progress: note})
	check("export", err)
	if err := db.CreateTable(t.Context(), "copy", "pk", "sk:N"); err != nil {
		t.Fatal(err)
	}
	client.left.Store(2)
	_, err = Import(t.Context(), client, ImportOptions{Dir: dir, Table: "copy", Workers: 1, Replace: true, Progress: note})
	check("import", err)
}

// Manifests have the members of DynamoDB's own, and their times.
func TestManifestsAreLikeThoseOfAWS(t *testing.T) {
	db, dir := local.Start(t), t.TempDir()
	orders(t, db.Client(), 3)
	out, err := Export(t.Context(), db.Client(), ExportOptions{Table: "orders", Dir: dir, Segments: 1})
	if err != nil {
		t.Fatal(err)
	}
	member := func(file string) map[string]any {
		text, err := os.ReadFile(filepath.Join(out.Path, file))
		var all map[string]any
		if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil {
			t.Fatal(err)
		}
		return all
	}
	summary := member(summaryFile)
	for _, name := range []string{
		"version", "exportArn", "startTime", "endTime", "tableArn", "tableId", "exportTime", "s3Bucket", "s3Prefix", "s3SseAlgorithm",
		"s3SseKmsKeyId", "manifestFilesS3Key", "billedSizeBytes", "itemCount", "outputFormat", "exportType",
	} {
		value, there := summary[name]
		if !there {
			t.Errorf("the summary has no %s", name)
		}
		if strings.HasSuffix(name, "Time") {
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", value.(string)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	file := member(filesFile)
	sum, err := base64.StdEncoding.DecodeString(file["md5Checksum"].(string))
	if err != nil || file["etag"] != hex.EncodeToString(sum) {
		t.Errorf("got etag %v beside MD5 %v, %v", file["etag"], file["md5Checksum"], err)
	}
}

func TestTableOfAnImport(t *testing.T) {
	dir := forged(t, "{\"Item\":{\"id\":{\"S\":\"a\"},\"at\":{\"N\":\"1.50\"}}}\n", func(*folder) {})
	client := local.Start(t).Client()
	for _, c := range []struct{ key, sort, want string }{
		{"", "", "table real does not exist, and the export does not say which keys it has"},
		{"", "at:N", "no partition key"},
		{"id", "", `key "id": want a name and a type`},
		{"id:SN", "", `key "id:SN": want a name and a type`},
		{"id:S", "at:", `key "at:": want a name and a type`},
		{"id:S", "at:N", ""},
	} {
		_, err := Import(t.Context(), client, ImportOptions{Dir: dir, Key: c.key, Sort: c.sort})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("keys %q and %q: got %v, want %q", c.key, c.sort, err, c.want)
		}
	}
	if got := contents(t, client, "real"); !got["{\"Item\":{\"at\":{\"N\":\"1.5\"},\"id\":{\"S\":\"a\"}}}\n"] {
		t.Errorf("the table has %v", got)
	}
}

// What is read of a line is what is written of it.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"Item":{"id":{"S":"a"},"n":{"N":"1e5"},"b":{"B":"AA=="},"l":{"L":[{"BOOL":true},{"NULL":true}]}}}`,
		`{"Item":{"m":{"M":{"ss":{"SS":["a","b"]},"ns":{"NS":["1"]},"bs":{"BS":["AA=="]}}}}}`,
		`{"Item":{}}`, `{"Keys":{"id":{"S":"a"}}}`, `{"Item":{"id":{"S":"a"},"id":{"S":"b"}}}`, `{`, ``, `null`, `{"Item":null}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		it, err := parseLine(line)
		if err != nil {
			return
		}
		if !json.Valid([]byte(line)) {
			t.Fatalf("%q is no JSON, but is read as %v", line, it)
		}
		written, err := appendLine(nil, it)
		if err != nil {
			t.Fatalf("%q is read, but not written: %v", line, err)
		}
		again, err := parseLine(strings.TrimSpace(string(written)))
		if err != nil || !reflect.DeepEqual(it, again) {
			t.Fatalf("%q becomes %q: %v", line, written, err)
		}
	})
}

// Whatever is in a file, it is read or refused.
func FuzzFile(f *testing.F) {
	f.Add([]byte("{\"Item\":{\"id\":{\"S\":\"a\"}}}\n\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		n := int64(0)
		items, err := scanLines("file", bytes.NewReader(data), func(int, string) error { n++; return nil })
		if err == nil && items != n {
			t.Errorf("%d items, but %d were told", items, n)
		}
	})
}
