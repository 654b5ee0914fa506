package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// The scripts in testdata are the engine's specification by example. A script is
// a sequence of commands and answers, each ended by an empty line; lines that
// begin with # explain.
//
//	update accounts {id: "ada"}
//	  update SET balance = balance - :amount
//	  condition balance >= :amount
//	  :amount 30
//	  return UPDATED_NEW
//	----
//	{balance: 70}
//
// The first line is the verb, the table and the item or key; script_notation_test.go
// tells how values are written. Indented lines are parameters. Those of a batch or
// transaction are its actions, whose own parameters are indented further. :name
// and #name define what expressions refer to, times N repeats a command, or an
// action, with $n being 0, 1, 2 and so on, and pages follows each page's last key.
//
// Each script has an engine and a time of its own, which begins at midnight UTC on
// 2000-01-01 and passes in wait alone.
//
//	go test ./internal/engine -run Script -update
//
// writes the answers that the engine gives into the scripts.
var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) { runScript(t, file) })
		})
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks, tail, err := parseScript(string(text))
	if err != nil {
		t.Fatalf("%s:%v", file, err)
	}
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := &script{engine: e, shown: map[string]int{}}
	var rewritten strings.Builder
	for _, b := range blocks {
		got, err := s.run(b)
		if err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		if want := strings.Join(b.answer, "\n"); got != want && !*update {
			t.Errorf("%s:%d: %s\ngot:\n%s\nwant:\n%s", file, b.line, b.command[0], got, want)
		}
		for _, line := range slices.Concat(b.comment, b.command, []string{"----", got, ""}) {
			rewritten.WriteString(line + "\n")
		}
	}
	rewritten.WriteString(strings.Join(tail, "\n"))
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(rewritten.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// block is one command of a script with its answer.
type block struct {
	line    int // of the command
	comment []string
	command []string
	answer  []string
}

// parseScript cuts a script into blocks. tail is what follows the last one.
func parseScript(text string) (blocks []block, tail []string, err error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	next := func(until string) (part []string, found bool) {
		i := slices.Index(lines, until)
		if found = i >= 0; !found {
			i = len(lines)
		}
		part, lines = lines[:i], lines[min(i+1, len(lines)):]
		return part, found
	}
	total := len(lines)
	for {
		i := slices.IndexFunc(lines, func(l string) bool { return l != "" && !strings.HasPrefix(l, "#") })
		if i < 0 {
			return blocks, lines, nil
		}
		b := block{comment: lines[:i]}
		lines = lines[i:]
		b.line = total - len(lines) + 1
		var found bool
		if b.command, found = next("----"); !found || slices.Contains(b.command, "") {
			return nil, nil, fmt.Errorf("%d: a command ends with ----", b.line)
		}
		b.answer, _ = next("")
		blocks = append(blocks, b)
	}
}

// script is a script that is running.
type script struct {
	engine *engine.Engine
	shown  map[string]int // stream records already shown, by table
}

// run runs a command as often as it says, and returns the different answers.
func (s *script) run(b block) (string, error) {
	c, err := parseCommand(b.command, b.line, 0)
	if err != nil {
		return "", err
	}
	var answers []string
	for i := range c.times {
		answer, err := s.once(c.numbered(i))
		if err != nil {
			return "", err
		}
		if !slices.Contains(answers, answer) {
			answers = append(answers, answer)
		}
	}
	return strings.Join(answers, "\n"), nil
}

func (s *script) once(c *command) (string, error) {
	v, ok := verbs[c.verb]
	if !ok {
		return "", c.errorf("unknown verb %s", c.verb)
	}
	a, err := c.arguments(v.params, v.actions)
	if err != nil {
		return "", err
	}
	answer, err := v.run(s, a)
	var exception *engine.Error
	switch {
	case errors.As(err, &exception) && exception.Type != engine.TypeInternal:
		return showError(exception), nil
	case err != nil:
		return "", c.errorf("%v", err)
	case answer == "":
		return "ok", nil
	}
	return collapse(strings.TrimRight(answer, "\n")), nil
}

// collapse writes a line that is repeated many times once.
func collapse(text string) string {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		if n > 3 {
			out = append(out, fmt.Sprintf("%s (%d times)", lines[i], n))
		} else {
			out = append(out, lines[i:i+n]...)
		}
		i += n
	}
	return strings.Join(out, "\n")
}

// verbs are the commands: the parameters they take, the actions they consist of,
// what they do.
var verbs = map[string]struct {
	params  string
	actions map[string]string // verbs and their parameters
	run     func(*script, *arguments) (string, error)
}{
	"table":  {params: "lsi gsi stream ttl", run: (*script).table},
	"put":    {params: "condition : # return on-failure capacity metrics", run: (*script).put},
	"update": {params: "update condition : # return on-failure capacity metrics", run: (*script).update},
	"delete": {params: "condition : # return on-failure capacity metrics", run: (*script).remove},
	"get":    {params: "projection # consistent capacity", run: (*script).get},
	"query": {
		params: "key filter projection : # index limit reverse start select consistent capacity pages",
		run:    (*script).query,
	},
	"scan": {
		params: "filter projection : # index limit start select segment consistent capacity pages",
		run:    (*script).scan,
	},
	"batch-get": {
		params: "capacity", run: (*script).batchGet,
		actions: map[string]string{"get": "projection # consistent"},
	},
	"batch-write": {
		params: "capacity metrics", run: (*script).batchWrite,
		actions: map[string]string{"put": "", "delete": ""},
	},
	"transact-get": {
		params: "capacity", run: (*script).transactGet,
		actions: map[string]string{"get": "projection #"},
	},
	"transact-write": {
		params: "capacity metrics token", run: (*script).transactWrite,
		actions: map[string]string{
			"put": "condition : # on-failure", "delete": "condition : # on-failure",
			"update": "update condition : # on-failure", "check": "condition : # on-failure",
		},
	},
	"stream":   {run: (*script).stream},
	"describe": {run: (*script).describe},
	"wait":     {run: (*script).wait},
}

func (s *script) wait(a *arguments) (string, error) {
	d, err := time.ParseDuration(a.table)
	if err == nil {
		time.Sleep(d)
	}
	return "", err
}

func (s *script) put(a *arguments) (string, error) {
	out, err := s.engine.PutItem(context.Background(), a.put())
	return showWrite(out), err
}

func (s *script) update(a *arguments) (string, error) {
	out, err := s.engine.UpdateItem(context.Background(), a.update())
	return showWrite(out), err
}

func (s *script) remove(a *arguments) (string, error) {
	out, err := s.engine.DeleteItem(context.Background(), a.remove())
	return showWrite(out), err
}

func (s *script) get(a *arguments) (string, error) {
	out, err := s.engine.GetItem(context.Background(), a.get())
	if err != nil {
		return "", err
	}
	return showFound(out.Item) + showCapacity(out.ConsumedCapacity), nil
}

func (s *script) query(a *arguments) (string, error) {
	return a.readPages(func(in *engine.ReadInput) (*engine.ReadOutput, error) {
		return s.engine.Query(context.Background(), in)
	})
}

// scan shows a page's items in the order of their text: a scan's own order is
// that of hashes.
func (s *script) scan(a *arguments) (string, error) {
	return a.readPages(func(in *engine.ReadInput) (*engine.ReadOutput, error) {
		out, err := s.engine.Scan(context.Background(), in)
		if err == nil {
			slices.SortFunc(out.Items, func(a, b attr.Raw) int { return strings.Compare(showRaw(a), showRaw(b)) })
		}
		return out, err
	})
}

// readPages shows a page, or all of them.
func (a *arguments) readPages(read func(*engine.ReadInput) (*engine.ReadOutput, error)) (string, error) {
	in := a.read()
	var answer strings.Builder
	for {
		out, err := read(in)
		if err != nil {
			return "", err
		}
		answer.WriteString(showRead(out))
		if !a.pages || out.LastEvaluatedKey == nil {
			return answer.String(), nil
		}
		in.ExclusiveStartKey, in.HasStartKey = out.LastEvaluatedKey, true
	}
}

func (s *script) batchGet(a *arguments) (string, error) {
	in := &engine.BatchGetItemInput{Request: a.request(), ConsumedCapacity: a.returns.ConsumedCapacity}
	for _, g := range a.actions {
		i := slices.IndexFunc(in.Tables, func(t engine.BatchGetTable) bool { return t.TableName == g.table })
		if i < 0 { // the first get of a table speaks for all
			i = len(in.Tables)
			in.Tables = append(in.Tables, engine.BatchGetTable{
				TableName: g.table, ConsistentRead: g.consistent, Expressions: g.expressions,
			})
		}
		in.Tables[i].Keys = append(in.Tables[i].Keys, g.item)
	}
	out, err := s.engine.BatchGetItem(context.Background(), in)
	if err != nil {
		return "", err
	}
	return showBatchGet(out), nil
}

func (s *script) batchWrite(a *arguments) (string, error) {
	in := &engine.BatchWriteItemInput{Request: a.request(), Returns: a.returns}
	for _, w := range a.actions {
		i := slices.IndexFunc(in.Tables, func(t engine.BatchWriteTable) bool { return t.TableName == w.table })
		if i < 0 {
			i = len(in.Tables)
			in.Tables = append(in.Tables, engine.BatchWriteTable{TableName: w.table})
		}
		b := engine.BatchWrite{Key: w.item, Delete: true}
		if w.verb == "put" {
			b = engine.BatchWrite{Item: w.item, Put: true}
		}
		in.Tables[i].Writes = append(in.Tables[i].Writes, b)
	}
	out, err := s.engine.BatchWriteItem(context.Background(), in)
	if err != nil {
		return "", err
	}
	return showBatchWrite(out), nil
}

func (s *script) transactGet(a *arguments) (string, error) {
	in := &engine.TransactGetItemsInput{Request: a.request(), HasGets: true, ConsumedCapacity: a.returns.ConsumedCapacity}
	for _, g := range a.actions {
		in.Gets = append(in.Gets, g.get())
	}
	out, err := s.engine.TransactGetItems(context.Background(), in)
	if err != nil {
		return "", err
	}
	var answer strings.Builder
	for _, item := range out.Items {
		answer.WriteString(showFound(item))
	}
	return answer.String() + showCapacity(out.ConsumedCapacity...), nil
}

func (s *script) transactWrite(a *arguments) (string, error) {
	in := &engine.TransactWriteItemsInput{Request: a.request(), HasActions: true, ClientRequestToken: a.token, Returns: a.returns}
	for _, w := range a.actions {
		var action engine.TransactWrite
		switch w.verb {
		case "put":
			action.Put = w.put()
		case "update":
			action.Update = w.update()
		case "delete":
			action.Delete = w.remove()
		case "check":
			action.ConditionCheck = w.remove()
		}
		in.Actions = append(in.Actions, action)
	}
	out, err := s.engine.TransactWriteItems(context.Background(), in)
	if err != nil {
		return "", err
	}
	return showMetrics(out.ItemCollectionMetrics) + showCapacity(out.ConsumedCapacity...), nil
}

// stream shows the records of a table's stream that were not shown before.
func (s *script) stream(a *arguments) (string, error) {
	d, err := s.engine.DescribeTable(context.Background(), &engine.TableInput{TableName: &a.table})
	if err != nil {
		return "", err
	}
	records, err := readStream(s.engine, d.LatestStreamARN)
	if err != nil {
		return "", err
	}
	var answer strings.Builder
	for _, r := range records[s.shown[a.table]:] {
		answer.WriteString(showRecord(&r))
	}
	s.shown[a.table] = len(records)
	if answer.Len() == 0 {
		return "nothing", nil
	}
	return answer.String(), nil
}

// readStream reads all records of a stream.
func readStream(e *engine.Engine, arn string) (records []engine.StreamRecord, err error) {
	ctx := context.Background()
	d, err := e.DescribeStream(ctx, &engine.DescribeStreamInput{StreamARN: &arn})
	if err != nil {
		return nil, err
	}
	for _, shard := range d.Shards {
		iterator, err := e.GetShardIterator(ctx, &engine.GetShardIteratorInput{
			StreamARN: &arn, ShardID: &shard.ShardID, Type: new("TRIM_HORIZON"),
		})
		for more := true; more && err == nil; {
			var out *engine.GetRecordsOutput
			if out, err = e.GetRecords(ctx, &engine.GetRecordsInput{ShardIterator: &iterator}); err == nil {
				records = append(records, out.Records...)
				iterator = out.NextIterator
				more = iterator != "" && len(out.Records) > 0
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

func (s *script) describe(a *arguments) (string, error) {
	d, err := s.engine.DescribeTable(context.Background(), &engine.TableInput{TableName: &a.table})
	if err != nil {
		return "", err
	}
	return showTable(d), nil
}

// table creates a table: its name and key, then its indexes.
//
//	table orders customer:S / at:N
//	  lsi by_total total:N KEYS_ONLY
//	  gsi by_state state:S region:S / at:N INCLUDE total note
func (s *script) table(a *arguments) (string, error) {
	ctx := context.Background()
	in := &engine.CreateTableInput{
		TableName: &a.table, BillingMode: new("PAY_PER_REQUEST"),
		HasKeySchema: true, HasDefinitions: true,
	}
	var err error
	if in.KeySchema, _, err = keySchema(in, strings.Fields(a.rest)); err != nil {
		return "", err
	}
	for _, p := range a.indexes {
		x, err := newIndex(in, p)
		if err != nil {
			return "", err
		}
		if p.name == "lsi" {
			in.HasLocalIndexes, in.LocalIndexes = true, append(in.LocalIndexes, x)
		} else {
			in.HasGlobalIndexes, in.GlobalIndexes = true, append(in.GlobalIndexes, x)
		}
	}
	if a.view != "" {
		in.Stream = &engine.StreamSpecification{Enabled: new(true), ViewType: &a.view}
	}
	if _, err := s.engine.CreateTable(ctx, in); err != nil || a.ttl == "" {
		return "", err
	}
	_, err = s.engine.UpdateTimeToLive(ctx, &engine.UpdateTimeToLiveInput{
		TableName: &a.table, Enabled: new(true), AttributeName: &a.ttl, HasSpec: true,
	})
	return "", err
}

// newIndex reads an index: name, key, projection, projected attributes.
func newIndex(in *engine.CreateTableInput, p param) (x engine.IndexInput, err error) {
	words := strings.Fields(p.value)
	if len(words) == 0 {
		return x, fmt.Errorf("%s without a name", p.name)
	}
	x.IndexName, x.HasKeySchema = &words[0], true
	keys := words[1:]
	if p.name == "lsi" {
		keys = append([]string{in.KeySchema[0].AttributeName, "/"}, keys...)
	}
	x.KeySchema, words, err = keySchema(in, keys)
	if err != nil || len(words) == 0 {
		return x, errors.Join(err, fmt.Errorf("%s %s has no projection", p.name, *x.IndexName))
	}
	x.Projection = &engine.Projection{Type: &words[0], NonKeyAttributes: words[1:], HasNonKey: len(words) > 1}
	return x, nil
}

// keySchema reads the attributes of a key, HASH before the slash and RANGE behind
// it, and defines them. rest is what follows.
func keySchema(in *engine.CreateTableInput, words []string) (keys []engine.KeyElement, rest []string, err error) {
	role := "HASH"
	for i, word := range words {
		name, kind, typed := strings.Cut(word, ":")
		known := slices.ContainsFunc(in.AttributeDefinitions, func(d engine.AttributeDefinition) bool { return d.AttributeName == name })
		switch {
		case word == "/" && role == "HASH":
			role = "RANGE"
			continue
		case !typed && !known:
			return keys, words[i:], nil
		case !known:
			in.AttributeDefinitions = append(in.AttributeDefinitions, engine.AttributeDefinition{AttributeName: name, AttributeType: kind})
		}
		keys = append(keys, engine.KeyElement{AttributeName: name, KeyType: role})
	}
	return keys, nil, nil
}
