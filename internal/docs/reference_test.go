package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// placed asks where an item is stored: a layout, and the id's attributes, in base64 because they may be any bytes.
type placed struct {
	Key          string   `json:"key"`
	Kinds        []string `json:"kinds"`
	Values       [][]byte `json:"values"`
	At           int64    `json:"at"`
	Period       string   `json:"period"`
	HourMark     string   `json:"hourMark"`
	BucketPrefix string   `json:"bucketPrefix"`
	Prefix       string   `json:"prefix"`
	First        int      `json:"first"`
	Width        int      `json:"width"`
	BareZero     bool     `json:"bareZero"`
	Shards       int      `json:"shards"`
	Hash         string   `json:"hash"`
}

// merge asks for one order of the items of shards: pairs of a sort key and a name.
type merge struct {
	Shards  [][][2]string `json:"shards"`
	Kind    string        `json:"kind"`
	Reverse bool          `json:"reverse"`
}

type asked struct {
	Places []placed `json:"places,omitempty"`
	Keys   [][2]any `json:"keys,omitempty"` // a key and a number of shards
	Merges []merge  `json:"merges,omitempty"`
	Strays [][2]any `json:"strays,omitempty"` // what is no shard key, and a number of shards
}

type answered struct {
	Places []struct {
		Stored string
		Back   []any
	}
	Keys   [][]string
	Merges [][]string
	Strays []bool
}

// references are the programs of docs/reference, by their languages.
var references = map[string][]string{"Python": {"python3", "testdata/driver.py"}, "JavaScript": {"node", "testdata/driver.mjs"}}

// ask runs the reference program of a language.
func ask(t *testing.T, language string, questions asked) (answers answered) {
	t.Helper()
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Join(root, "docs", "reference"))
	if err != nil {
		t.Fatal(err)
	}
	command := references[language]
	needs(t, command[0])
	run := exec.CommandContext(t.Context(), command[0], command[1], dir)
	run.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", language, err, &stderr)
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%s: %v: %.200s", language, err, out)
	}
	return answers
}

// layouts are layouts in all spellings, hashes and periods.
func layouts() []layout.Layout {
	var all []layout.Layout
	for _, hash := range []layout.Hash{layout.XXHash, layout.FNV, layout.CRC32, layout.MD5, layout.Product} {
		for i, format := range []layout.Format{
			{}, layout.SharpNumber(), layout.PlainNumber(), layout.DotFromOne(), {BareZero: true}, {Width: 3}, {ShardPrefix: "/s(", First: 1, Width: 2, BucketPrefix: "@", HourMark: "-"},
		} {
			all = append(all, layout.Layout{Shards: []int{1, 10, 16, 200, 1000}[i%5], Strategy: layout.Calculated, Hash: hash, Format: format, Bucket: layout.Bucket(i % 6)})
		}
	}
	return all
}

// Python and JavaScript store an item under the key under which Go does, for each hash, format and period, and read it back.
func TestReferenceWriters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var questions asked
	var want []string
	var back [][]any
	for _, l := range layouts() {
		f := l.Format.WithDefaults()
		for i := range 200 {
			id := drawID(random, i)
			at := time.Unix(random.Int64N(4_000_000_000), 0)
			stored, err := l.ShardKey("PAGE_VIEWS", at, l.Shard(id))
			if err != nil {
				t.Fatal(err)
			}
			period, bucket := "", ""
			if l.Bucket != layout.NoBucket {
				period = l.Bucket.String()
				if bucket, err = l.Bucket.Text(at); err != nil {
					t.Fatal(err)
				}
				bucket = strings.Replace(bucket, "T", f.HourMark, 1)
			}
			questions.Places = append(questions.Places, placed{
				"PAGE_VIEWS", []string{"S"}, [][]byte{[]byte(id)}, at.Unix(), period, f.HourMark, f.BucketPrefix, f.ShardPrefix, f.First, f.Width, f.BareZero, l.Shards, l.Hash.String(),
			})
			want, back = append(want, stored), append(back, []any{"PAGE_VIEWS", bucket, float64(l.Shard(id))})
		}
	}
	for language := range references {
		for i, got := range ask(t, language, questions).Places {
			if got.Stored != want[i] {
				t.Fatalf("%s: %+v is stored under %q, want %q", language, questions.Places[i], got.Stored, want[i])
			}
			if fmt.Sprint(got.Back) != fmt.Sprint(back[i]) {
				t.Fatalf("%s: %q is read back as %v, want %v", language, got.Stored, got.Back, back[i])
			}
		}
	}
	t.Logf("%d shard keys are the same in %d languages", len(want), len(references)+1)
}

// drawID draws an id: a counter, letters of several alphabets, or any length that a hash treats apart.
func drawID(random *rand.Rand, i int) string {
	switch i % 3 {
	case 0:
		return fmt.Sprint("order-", random.IntN(100_000))
	case 1:
		return string([]rune("жüñ€😀\uffff日a0")[random.IntN(9)]) + strconv.Itoa(random.IntN(1000))
	}
	var b strings.Builder
	for range 1 + random.IntN(100) {
		b.WriteByte(byte(' ' + random.IntN(95)))
	}
	return b.String()
}

// Python and JavaScript encode ids as the library does: strings, numbers, binaries, and several attributes.
func TestReferenceIDs(t *testing.T) {
	db := local.Start(t)
	numbers := []string{"0", "-0", "1", "-1.50", "100", "1e3", "1.5E+2", "0.001", "1e-7", "12345678901234567890123456789012345678", "-0.5e-10", "1E125", "00120.0100", "+7"}
	type attribute struct {
		kind, text string
	}
	var ids [][]attribute
	for _, n := range numbers {
		ids = append(ids, []attribute{{"N", n}}, []attribute{{"S", n}, {"N", n}})
	}
	ids = append(ids, []attribute{{"S", "order-1"}}, []attribute{{"B", "\x00\xff\x80"}}, []attribute{{"S", "a"}, {"S", "b"}}, []attribute{{"S", "ab"}, {"S", strings.Repeat("ü", 100)}, {"B", "\xfe"}})
	var questions asked
	var want []string
	for i, id := range ids {
		table := fmt.Sprint("table-", i)
		if err := db.CreateTable(t.Context(), table, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "KEY"}, "sk": &types.AttributeValueMemberS{Value: "x"}}
		q := placed{Key: "KEY", BucketPrefix: "#", HourMark: "T", Prefix: "#SHARD_", Shards: 1000, Hash: "xxhash"}
		options := heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 1000, Strategy: layout.Calculated}}
		for n, a := range id {
			name := fmt.Sprint("a", n)
			options.ShardBy = append(options.ShardBy, name)
			switch a.kind {
			case "S":
				item[name] = &types.AttributeValueMemberS{Value: a.text}
			case "N":
				item[name] = &types.AttributeValueMemberN{Value: a.text}
			case "B":
				item[name] = &types.AttributeValueMemberB{Value: []byte(a.text)}
			}
			q.Kinds, q.Values = append(q.Kinds, a.kind), append(q.Values, []byte(a.text))
		}
		items, err := heatsink.Open[heatsink.Item](db.Client(), options)
		if err != nil {
			t.Fatal(err)
		}
		homes, err := items.Locate(t.Context(), item)
		if err != nil || len(homes) != 1 {
			t.Fatal(homes, err)
		}
		questions.Places, want = append(questions.Places, q), append(want, homes[0]["pk"].(*types.AttributeValueMemberS).Value)
	}
	for language := range references {
		for i, got := range ask(t, language, questions).Places {
			if got.Stored != want[i] {
				t.Errorf("%s: the id %q is in %s, want %s", language, ids[i], got.Stored, want[i])
			}
		}
	}
}

// Python and JavaScript merge shards into the order in which the library returns them, in both directions, with equal sort keys in
// several shards.
func TestReferenceReaders(t *testing.T) {
	const shards = 7
	db := local.Start(t)
	questions := asked{Keys: [][2]any{{"strings", shards}, {"numbers", shards}}, Strays: [][2]any{{"strings", 7}, {"strings#SHARD_7", 7}, {"strings#SHARD_07", 70}, {"strings#SHARD_1#SHARD_2", 7}, {"strings#SHARD_", 7}}}
	var want [][]string
	for _, kind := range []string{"S", "N"} {
		table := map[string]string{"S": "strings", "N": "numbers"}[kind]
		createTable(t, db.Client(), table, types.ScalarAttributeType(kind))
		items, err := heatsink.Open[heatsink.Item](db.Client(), heatsink.Options{
			Table: table, PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: shards}, Rand: rand.NewPCG(3, 4),
		})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(5, 6))
		for i := range 500 {
			name := &types.AttributeValueMemberS{Value: fmt.Sprint(i)}
			item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: table}, "name": name}
			if kind == "S" {
				item["sk"] = &types.AttributeValueMemberS{Value: drawID(random, random.IntN(2))}
			} else {
				item["sk"] = &types.AttributeValueMemberN{Value: fmt.Sprintf("%de%d", random.IntN(100)-50, random.IntN(6)-3)}
			}
			if _, err := items.Put(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		for _, reverse := range []bool{false, true} {
			m := merge{Kind: kind, Reverse: reverse}
			for shard := range shards {
				m.Shards = append(m.Shards, stored(t, db.Client(), table, fmt.Sprintf("%s#SHARD_%d", table, shard), reverse))
			}
			questions.Merges = append(questions.Merges, m)
			var names []string
			for item, err := range items.Query(t.Context(), heatsink.Query{Key: table, Reverse: reverse}) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, item["name"].(*types.AttributeValueMemberS).Value)
			}
			want = append(want, names)
		}
	}
	for language := range references {
		got := ask(t, language, questions)
		for i, names := range got.Merges {
			if len(names) < 300 || !slices.Equal(names, want[i]) {
				t.Errorf("%s: the order of %s, reverse %t, is\n%v, want\n%v", language, questions.Merges[i].Kind, questions.Merges[i].Reverse, names, want[i])
			}
		}
		for i, keys := range got.Keys {
			if layouts, err := (layout.Layout{Shards: shards}).ShardKeys(questions.Keys[i][0].(string), time.Time{}, time.Time{}); err != nil || !slices.Equal(keys, layouts) {
				t.Errorf("%s: the shard keys are %q, want %q, %v", language, keys, layouts, err)
			}
		}
		if slices.Contains(got.Strays, true) {
			t.Errorf("%s: of %v it takes %v for shard keys", language, questions.Strays, got.Strays)
		}
	}
}

func createTable(t *testing.T, client *dynamodb.Client, table string, kind types.ScalarAttributeType) {
	t.Helper()
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: kind},
		},
	}); err != nil {
		t.Fatal(err)
	}
}

// stored returns the items of a partition key as DynamoDB has them: their sort keys and names.
func stored(t *testing.T, client *dynamodb.Client, table, key string, reverse bool) [][2]string {
	t.Helper()
	out, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: aws.String("pk = :k"), ScanIndexForward: aws.Bool(!reverse),
		ExpressionAttributeValues: heatsink.Item{":k": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil || len(out.Items) == 0 || out.LastEvaluatedKey != nil {
		t.Fatalf("%s: %d items, %v", key, len(out.Items), err)
	}
	var items [][2]string
	for _, item := range out.Items {
		pair := [2]string{1: item["name"].(*types.AttributeValueMemberS).Value}
		switch sk := item["sk"].(type) {
		case *types.AttributeValueMemberS:
			pair[0] = sk.Value
		case *types.AttributeValueMemberN:
			pair[0] = sk.Value
		}
		items = append(items, pair)
	}
	return items
}

// The reference programs stay small enough to be read.
func TestReferencesAreShort(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "reference", "*.*"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		rel, _ := filepath.Rel(root, file)
		if lines := strings.Count(readFile(t, rel), "\n"); lines > 50 {
			t.Errorf("%s has %d lines, want at most 50", rel, lines)
		}
	}
}
