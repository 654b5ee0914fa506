package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
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
			synctest.Test(t, func(t *testing.T) { runScript(t, file) })
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
	in := &engine.BatchGetItemInput{Request: a.request(), HasTables: true, ConsumedCapacity: a.returns.ConsumedCapacity}
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
	in := &engine.BatchWriteItemInput{Request: a.request(), HasTables: true, Returns: a.returns}
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

// command is a command, or an action of one, as it is written.
type command struct {
	line    int
	verb    string
	rest    string
	times   int
	params  []param
	actions []*command
}

type param struct {
	line        int
	name, value string
}

func (c *command) errorf(format string, args ...any) error {
	return fmt.Errorf("%d: %s", c.line, fmt.Sprintf(format, args...))
}

// parseCommand reads a line and what is indented below it.
func parseCommand(lines []string, line, depth int) (*command, error) {
	c := &command{line: line, times: 1}
	c.verb, c.rest, _ = strings.Cut(lines[0], " ")
	indent := strings.Repeat("  ", depth+1)
	for i := 1; i < len(lines); i++ {
		text, ok := strings.CutPrefix(lines[i], indent)
		if !ok || strings.HasPrefix(text, " ") {
			return nil, fmt.Errorf("%d: wrong indentation", line+i)
		}
		name, value, _ := strings.Cut(text, " ")
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], indent+"  ") {
			end++
		}
		switch {
		case name == "times":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, fmt.Errorf("%d: times: %w", line+i, err)
			}
			c.times = n
		case hasAction(c.verb, name):
			part := append([]string{text}, lines[i+1:end]...)
			action, err := parseCommand(part, line+i, depth+1)
			if err != nil {
				return nil, err
			}
			c.actions = append(c.actions, action)
			i = end - 1
		default:
			c.params = append(c.params, param{line + i, name, value})
		}
	}
	return c, nil
}

func hasAction(verb, name string) bool {
	_, ok := verbs[verb].actions[name]
	return ok
}

var countersPattern = regexp.MustCompile(`\$n+`)

// numbered returns the command with $n replaced, $nnn by three digits.
func (c *command) numbered(n int) *command {
	set := func(s string) string {
		return countersPattern.ReplaceAllStringFunc(s, func(c string) string { return fmt.Sprintf("%0*d", len(c)-1, n) })
	}
	out := *c
	out.rest = set(c.rest)
	out.params = nil
	for _, p := range c.params {
		out.params = append(out.params, param{p.line, p.name, set(p.value)})
	}
	return &out
}

// arguments are what a command says, for the operations to take their part of.
type arguments struct {
	verb, table, rest string
	item              attr.Item
	hasItem           bool
	fault             error
	expressions       engine.Expressions
	returns           engine.Returns
	in                engine.ReadInput
	consistent, pages bool
	token             *string
	indexes           []param
	view, ttl         string
	actions           []*arguments
}

// arguments reads the item and the parameters of a command.
func (c *command) arguments(allowed string, actions map[string]string) (*arguments, error) {
	a := &arguments{verb: c.verb}
	a.table, a.rest, _ = strings.Cut(c.rest, " ")
	if strings.HasPrefix(a.rest, "{") {
		var err error
		if a.item, a.fault, err = readItem(a.rest); err != nil {
			return nil, c.errorf("%v", err)
		}
		a.hasItem = true
	} else if a.rest != "" && c.verb != "table" {
		return nil, c.errorf("unexpected %s", a.rest)
	}
	for _, p := range c.params {
		word := p.name
		if strings.HasPrefix(word, ":") || strings.HasPrefix(word, "#") {
			word = word[:1]
		}
		if !slices.Contains(strings.Fields(allowed), word) {
			return nil, fmt.Errorf("%d: %s has no parameter %s", p.line, c.verb, p.name)
		}
		if err := a.set(word, p); err != nil {
			return nil, fmt.Errorf("%d: %s: %w", p.line, p.name, err)
		}
	}
	for _, action := range c.actions {
		for n := range action.times {
			b, err := action.numbered(n).arguments(actions[action.verb], nil)
			if err != nil {
				return nil, err
			}
			a.actions = append(a.actions, b)
		}
	}
	return a, nil
}

func (a *arguments) set(word string, p param) (err error) {
	x := &a.expressions
	switch word {
	case ":":
		return a.setValue(p)
	case "#":
		if x.Names == nil {
			x.Names, x.HasNames = map[string]string{}, true
		}
		x.Names[p.name] = p.value
	case "condition":
		x.Condition = &p.value
	case "update":
		x.Update = &p.value
	case "filter":
		x.Filter = &p.value
	case "key":
		x.KeyCondition = &p.value
	case "projection":
		x.Projection = &p.value
	case "return":
		a.returns.ReturnValues = p.value
	case "on-failure":
		a.returns.OnConditionFailure = p.value
	case "capacity":
		a.returns.ConsumedCapacity = p.value
	case "metrics":
		a.returns.ItemCollectionMetrics = p.value
	case "index":
		a.in.IndexName = &p.value
	case "select":
		a.in.Select = p.value
	case "limit":
		a.in.Limit, err = readInt(p.value)
	case "segment":
		segment, total, _ := strings.Cut(p.value, "/")
		if a.in.Segment, err = readInt(segment); err == nil {
			a.in.TotalSegments, err = readInt(total)
		}
	case "start":
		a.in.HasStartKey = true
		a.in.ExclusiveStartKey, a.fault, err = readItem(p.value)
	case "token":
		a.token = &p.value
	case "stream":
		a.view = p.value
	case "ttl":
		a.ttl = p.value
	case "lsi", "gsi":
		a.indexes = append(a.indexes, p)
	default:
		return a.setFlag(word, p.value)
	}
	return err
}

func (a *arguments) setFlag(word, value string) error {
	if value != "" {
		return fmt.Errorf("unexpected %s", value)
	}
	switch word {
	case "reverse":
		a.in.ScanIndexForward = new(false)
	case "consistent":
		a.consistent = true
	case "pages":
		a.pages = true
	default:
		return errors.New("not implemented")
	}
	return nil
}

func (a *arguments) setValue(p param) error {
	v, fault, err := readValue(p.value)
	if a.fault == nil {
		a.fault = fault
	}
	a.expressions.Values = a.expressions.Values.With(p.name, v)
	a.expressions.HasValues = true
	return err
}

func readInt(s string) (*int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return &n, err
}

// request is what all requests have; the first fault of any action is the
// request's.
func (a *arguments) request() engine.Request {
	r := engine.Request{BadValue: a.fault}
	for _, b := range a.actions {
		if r.BadValue == nil {
			r.BadValue = b.fault
		}
	}
	return r
}

func (a *arguments) put() *engine.PutItemInput {
	return &engine.PutItemInput{
		Request: a.request(), TableName: &a.table, Item: a.item, HasItem: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) update() *engine.UpdateItemInput {
	return &engine.UpdateItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) remove() *engine.DeleteItemInput {
	return &engine.DeleteItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) get() *engine.GetItemInput {
	return &engine.GetItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		ConsistentRead: a.consistent, ConsumedCapacity: a.returns.ConsumedCapacity, Expressions: a.expressions,
	}
}

func (a *arguments) read() *engine.ReadInput {
	in := a.in
	in.Request, in.TableName, in.ConsistentRead = a.request(), &a.table, a.consistent
	in.ConsumedCapacity, in.Expressions = a.returns.ConsumedCapacity, a.expressions
	return &in
}
