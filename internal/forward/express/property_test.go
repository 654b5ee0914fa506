package express

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/local"
)

// bench is a table in a real engine, with requests that are sent there.
type bench struct {
	client *dynamodb.Client
	table  Table
	ids    int
}

func newBench(t *testing.T) *bench {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "tab", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	table, err := NewTable("tab", "pk", "sk")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{client: db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }), table: table}
}

// homes returns those of a new id.
func (b *bench) homes() Homes {
	b.ids++
	sk := text(fmt.Sprint("id", b.ids))
	return Homes{Table: b.table, Old: Item{"pk": text("k"), "sk": sk}, New: Item{"pk": text("k#SHARD_17"), "sk": sk}}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (b *bench) load(t fataler, key Item) Item {
	t.Helper()
	out, err := b.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out.Item
}

func (b *bench) store(t fataler, item Item) {
	t.Helper()
	if _, err := b.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); err != nil {
		t.Fatalf("%v", err)
	}
}

// outcome is what DynamoDB answers.
type outcome struct {
	returned Item
	reason   *types.CancellationReason // of the only action of a transaction
	err      error
}

// send sends a request, on its own or as a transaction. onFailure is "" for requests of this package.
func (b *bench) send(r Request, transact bool, onFailure types.ReturnValuesOnConditionCheckFailure) outcome {
	ctx := context.Background()
	if transact || r.Check != nil {
		part := partOf(r, onFailure)
		_, err := b.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}})
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			return outcome{reason: &cancelled.CancellationReasons[0]}
		}
		return outcome{err: err}
	}
	switch {
	case r.Get != nil:
		out, err := b.client.GetItem(ctx, r.Get)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Item}
	case r.Put != nil:
		out, err := b.client.PutItem(ctx, r.Put)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Attributes}
	case r.Update != nil:
		out, err := b.client.UpdateItem(ctx, r.Update)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Attributes}
	}
	out, err := b.client.DeleteItem(ctx, r.Delete)
	if err != nil {
		return outcome{err: err}
	}
	return outcome{returned: out.Attributes}
}

// partOf returns a request as an action of a transaction.
func partOf(r Request, onFailure types.ReturnValuesOnConditionCheckFailure) types.TransactWriteItem {
	part, _ := r.Part()
	switch {
	case onFailure == "":
	case part.Put != nil:
		part.Put.ReturnValuesOnConditionCheckFailure = onFailure
	case part.Update != nil:
		part.Update.ReturnValuesOnConditionCheckFailure = onFailure
	case part.Delete != nil:
		part.Delete.ReturnValuesOnConditionCheckFailure = onFailure
	}
	return part
}

// answer returns what the request says became of it.
func (o outcome) answer(r Request) (forward.Answer[Item], error) {
	if o.reason != nil {
		return r.Reason(*o.reason)
	}
	return r.Answer(o.returned, o.err)
}

// failed returns the item of a condition that did not hold.
func (o outcome) failed() (Item, bool) {
	if o.reason != nil && aws.ToString(o.reason.Code) == "ConditionalCheckFailed" {
		return o.reason.Item, true
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](o.err); ok {
		return failed.Item, true
	}
	return nil, false
}

// invalid returns what DynamoDB says is wrong with a request, or "".
func (o outcome) invalid() string {
	if o.reason != nil && aws.ToString(o.reason.Code) == "ValidationError" {
		return aws.ToString(o.reason.Message)
	}
	if api, ok := errors.AsType[smithy.APIError](o.err); ok && api.ErrorCode() == "ValidationException" {
		return api.ErrorMessage()
	}
	return ""
}

// asked is a request of a user for any key.
type asked struct {
	text     string
	plain    func(key Item) Request // as DynamoDB takes it without heatsink
	user     func(Table, Item) (*User, error)
	transact bool
	remove   bool

	onFailure types.ReturnValuesOnConditionCheckFailure
}

var states = []forward.State{
	forward.Absent, forward.Live, forward.Frozen, forward.Stub, forward.Dead, forward.Leaving, forward.Left,
}

var usersActs = []forward.Act{forward.Write, forward.WriteExisting, forward.Kill, forward.WriteOwn}

func drawValue(t *rapid.T, label string) types.AttributeValue {
	switch rapid.IntRange(0, 5).Draw(t, label) {
	case 0:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(rapid.IntRange(0, 2).Draw(t, label+" number"))}
	case 1:
		return text(rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, label+" text"))
	case 2:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{number(1)}}
	case 3:
		return &types.AttributeValueMemberSS{Value: []string{"x"}}
	case 4:
		return &types.AttributeValueMemberM{Value: Item{"a": number(1)}}
	}
	return number(1)
}

func drawContent(t *rapid.T, label string) Item {
	content := Item{}
	for _, name := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, label+" has "+name) {
			content[name] = drawValue(t, label+" "+name)
		}
	}
	return content
}

// stored returns the item of a slot, as heatsink may have stored it.
func stored(t *rapid.T, s forward.Slot[Item], key Item) Item {
	item := maps.Clone(s.Content)
	if item == nil {
		item = Item{}
	}
	maps.Copy(item, key)
	pads := strings.Repeat(padding, rapid.IntRange(0, 3).Draw(t, "padding"))
	switch s.State {
	case forward.Absent:
		return nil
	case forward.Frozen:
		item[forwarded] = text(frozen + pads)
	case forward.Stub:
		item[forwarded] = text(stub)
	case forward.Dead:
		item[dead] = &types.AttributeValueMemberBOOL{Value: true}
	case forward.Leaving:
		item[forwarded] = text(leaving + pads)
	case forward.Left:
		item[forwarded] = text(left)
	}
	if s.Copied > 0 {
		item[moved] = number(s.Copied)
	}
	return item
}

// drawCondition returns a condition, and the values that it uses. It is nil one time in four.
func drawCondition(t *rapid.T) *string {
	if rapid.IntRange(0, 3).Draw(t, "unconditional") == 0 {
		return nil
	}
	var draw func(depth int) string
	draw = func(depth int) string {
		path := rapid.SampledFrom([]string{"#a", "b", "c", "sk", "#m.a", "c[0]"}).Draw(t, "path")
		choice := rapid.IntRange(0, 9).Draw(t, "condition")
		if depth == 0 {
			choice %= 7
		}
		switch choice {
		case 0:
			return "attribute_not_exists(pk)"
		case 1:
			return "attribute_exists(#pk)"
		case 2:
			return "attribute_not_exists(" + path + ")"
		case 3:
			return "attribute_exists(" + path + ")"
		case 4:
			return path + " = :one"
		case 5:
			return "size(" + path + ") < :one"
		case 6:
			return path + " <> :x"
		case 7:
			return "NOT " + draw(depth-1)
		case 8:
			return draw(depth-1) + " OR " + draw(depth-1)
		}
		return "(" + draw(depth-1) + ") AND (" + draw(depth-1) + ")"
	}
	condition := draw(2)
	if rapid.IntRange(0, 3).Draw(t, "in parentheses") == 0 {
		condition = "(" + condition + ")"
	}
	return &condition
}

// drawUpdate returns an update expression.
func drawUpdate(t *rapid.T) *string {
	var clauses []string
	for _, c := range []struct {
		word    string
		actions []string
	}{
		{"SET", []string{
			"#a = :one", "b = if_not_exists(b, :x)", "c = list_append(if_not_exists(c, :list), :list)", "b = b + :one",
			"c[1] = :x", "#a = if_not_exists(sk, :x)", "d = sk", "c.a = :one", "d = list_append(c, :list)",
		}},
		{"REMOVE", []string{"#a", "b", "c.a", "c[0]", "e"}},
		{"add", []string{"n :one", "b :one", "s :set", "c :set"}},
		{"DELETE", []string{"s :set", "c :set"}},
	} {
		if rapid.Bool().Draw(t, "has "+c.word) {
			clauses = append(clauses, c.word+" "+rapid.SampledFrom(c.actions).Draw(t, c.word))
		}
	}
	if len(clauses) == 0 {
		clauses = []string{"SET #a = :one"}
	}
	return aws.String(strings.Join(clauses, " "))
}

// used returns the names and values that expressions use.
func used(expressions ...*string) (map[string]string, Item) {
	names := map[string]string{"#a": "a", "#m": "c", "#pk": "pk"}
	values := Item{
		":one": number(1), ":x": text("x"), ":set": &types.AttributeValueMemberSS{Value: []string{"x", "z"}},
		":list": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("l")}},
	}
	var all strings.Builder
	for _, e := range expressions {
		all.WriteString(" " + aws.ToString(e))
	}
	maps.DeleteFunc(names, func(name, _ string) bool { return !strings.Contains(all.String(), name) })
	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool { return !strings.Contains(all.String(), name) })
	if len(names) == 0 {
		names = nil
	}
	if len(values) == 0 {
		values = nil
	}
	return names, values
}

func drawAsked(t *rapid.T) asked {
	a := asked{transact: rapid.IntRange(0, 3).Draw(t, "transaction") == 0}
	condition := drawCondition(t)
	onFailure := types.ReturnValuesOnConditionCheckFailureNone
	if rapid.Bool().Draw(t, "wants the item on failure") {
		onFailure = allOld
	}
	returns := rapid.SampledFrom([]types.ReturnValue{"", types.ReturnValueNone, types.ReturnValueAllOld}).Draw(t, "return values")
	switch rapid.SampledFrom([]string{"put", "update", "update", "delete", "check"}).Draw(t, "operation") {
	case "put":
		content := drawContent(t, "put")
		names, values := used(condition)
		a.text = fmt.Sprint("put ", aws.ToString(condition))
		in := func(key Item) *dynamodb.PutItemInput {
			item := maps.Clone(content)
			maps.Copy(item, key)
			return &dynamodb.PutItemInput{
				TableName: aws.String("tab"), Item: item, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Put: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Put(in(key)) }
	case "update":
		update := drawUpdate(t)
		names, values := used(condition, update)
		returns := rapid.SampledFrom(types.ReturnValueNone.Values()).Draw(t, "return values of the update")
		a.text = fmt.Sprint("update ", *update, " if ", aws.ToString(condition), " returning ", returns)
		in := func(key Item) *dynamodb.UpdateItemInput {
			return &dynamodb.UpdateItemInput{
				TableName: aws.String("tab"), Key: key, UpdateExpression: update, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Update: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Update(in(key)) }
	case "delete":
		names, values := used(condition)
		a.text, a.remove = fmt.Sprint("delete ", aws.ToString(condition)), true
		in := func(key Item) *dynamodb.DeleteItemInput {
			return &dynamodb.DeleteItemInput{
				TableName: aws.String("tab"), Key: key, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Delete: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Delete(in(key)) }
	case "check":
		if condition == nil {
			condition = aws.String("attribute_exists(b)")
		}
		names, values := used(condition)
		a.text = fmt.Sprint("check ", *condition)
		in := func(key Item) *types.ConditionCheck {
			return &types.ConditionCheck{
				TableName: aws.String("tab"), Key: key, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Check: in(key)} }
		a.user = func(t Table, key Item) (*User, error) {
			return t.Part(types.TransactWriteItem{ConditionCheck: in(key)})
		}
	}
	if a.transact && a.plain(nil).Check == nil {
		a.user = func(t Table, key Item) (*User, error) { return t.Part(partOf(a.plain(key), onFailure)) }
	}
	a.onFailure = onFailure
	return a
}

// alike returns an item without its partition key, in which homes differ.
func alike(item Item) Item {
	own := maps.Clone(item)
	delete(own, "pk")
	return own
}

func sameSlot(a, b forward.Slot[Item]) bool {
	return a.State == b.State && attribute.Same(alike(a.Content), alike(b.Content))
}

func showSlot(s forward.Slot[Item]) string { return fmt.Sprint(s.State, " ", show(s.Content)) }

func show(item Item) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		all = append(all, fmt.Sprintf("%s=%+v", name, item[name]))
	}
	return "{" + strings.Join(all, " ") + "}"
}

// hidden fails if an item shows a mark.
func hidden(t *rapid.T, item Item) {
	for _, name := range Marks() {
		if item[name] != nil {
			t.Fatalf("the user sees the mark %s: %s", name, show(item))
		}
	}
}

// Every request does to every slot what forward.Apply says. A request of the user stores and answers what DynamoDB would without
// marks, where a dead item is absent.
func TestRequestsDoWhatApplySays(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		h := b.homes()
		act := forward.Act(rapid.IntRange(0, int(forward.DropBack)).Draw(t, "act"))
		if rapid.Bool().Draw(t, "user's act") {
			act = rapid.SampledFrom(usersActs).Draw(t, "which")
		}
		home := forward.Home(rapid.IntRange(0, 1).Draw(t, "home"))
		key := []Item{h.Old, h.New}[home]
		slot := forward.Slot[Item]{State: rapid.SampledFrom(states).Draw(t, "state")}
		switch slot.State {
		case forward.Live, forward.Frozen, forward.Leaving:
			slot.Content = drawContent(t, "stored")
			maps.Copy(slot.Content, key)
			slot.Copied = rapid.Uint64Range(0, 3).Draw(t, "copied")
		}
		if item := stored(t, slot, key); item != nil {
			b.store(t, item)
		}
		r := forward.Request[Item]{Home: home, Act: act, Generation: rapid.Uint64Range(1, 3).Draw(t, "generation")}
		if act == forward.Copy || act == forward.Return {
			r.Content = drawContent(t, "copied")
			maps.Copy(r.Content, []Item{h.New, h.Old}[home]) // as it is in the other home
		}
		if slices.Contains(usersActs, act) {
			b.checkUser(t, h, r, slot, key)
		} else {
			b.checkAct(t, h, r, slot, key)
		}
	})
}

// checkAct checks a request of the protocol.
func (b *bench) checkAct(t *rapid.T, h Homes, r forward.Request[Item], slot forward.Slot[Item], key Item) {
	want, done := forward.Apply(r, forward.User[Item]{}, slot, &forward.Breaks{})
	request, err := h.Express(r, nil)
	if err != nil {
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	}
	answer, err := b.send(request, false, "").answer(request)
	if err != nil {
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	}
	b.checkSlots(t, r, slot, key, want, done, answer)
	item := b.load(t, key)
	if _, copied := item[moved]; r.Act == forward.Copy && done && !copied {
		t.Fatalf("a copy without %s: %s", moved, show(item))
	}
	switch {
	case r.Act == forward.Read && !sameSlot(answer.Slot, slot):
		t.Fatalf("read: got %s, want %s", showSlot(answer.Slot), showSlot(slot))
	case done && (r.Act == forward.Freeze || r.Act == forward.FreezeBack) && !sameSlot(answer.Slot, want):
		t.Fatalf("%v: got %s, want %s", r.Act, showSlot(answer.Slot), showSlot(want))
	}
	hidden(t, answer.Slot.Content)
}

// checkSlots compares what is stored, and what the answer says of it.
func (b *bench) checkSlots(t *rapid.T, r forward.Request[Item], slot forward.Slot[Item], key Item, want forward.Slot[Item], done bool, answer forward.Answer[Item]) {
	t.Helper()
	got, err := b.table.Slot(b.load(t, key))
	switch {
	case err != nil:
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	case answer.Done != done:
		t.Fatalf("%v of %s: done is %v, want %v", r.Act, showSlot(slot), answer.Done, done)
	case !sameSlot(got, want):
		t.Fatalf("%v of %s: got %s, want %s", r.Act, showSlot(slot), showSlot(got), showSlot(want))
	case !done && !sameSlot(answer.Slot, slot):
		t.Fatalf("%v of %s: the answer has %s", r.Act, showSlot(slot), showSlot(answer.Slot))
	}
}

// checkUser checks a request of the user beside the same request for an item that has no marks.
func (b *bench) checkUser(t *rapid.T, h Homes, r forward.Request[Item], slot forward.Slot[Item], key Item) {
	a := drawAsked(t)
	if (r.Act == forward.Kill || r.Act == forward.WriteOwn) && !a.remove {
		r.Act = forward.Write
	}
	plainKey := Item{"pk": text("plain"), "sk": key["sk"]}
	before := Item(nil)
	if slot.State == forward.Live || slot.State == forward.Frozen || slot.State == forward.Leaving {
		before = maps.Clone(slot.Content)
		maps.Copy(before, plainKey)
		b.store(t, before)
	}
	plain := b.send(a.plain(plainKey), a.transact, a.onFailure)
	after := b.load(t, plainKey)
	plainItem, plainFailed := plain.failed()

	u, err := a.user(b.table, plainKey)
	if err != nil {
		if plain.invalid() == "" && !plainFailed || !errors.Is(err, ErrRequest) {
			t.Fatalf("%s: refused with %v, DynamoDB takes it: %+v", a.text, err, plain)
		}
		return
	}
	request, err := h.Express(r, u)
	if err != nil {
		t.Fatalf("%s: %v", a.text, err)
	}
	got := b.send(request, a.transact, "")

	user := forward.User[Item]{
		Kind:  u.Kind(),
		Holds: func(Item) bool { return !plainFailed },
		Write: func(Item, bool) Item { return after },
	}
	want, done := forward.Apply(r, user, slot, &forward.Breaks{})
	if done && plain.invalid() != "" {
		if got.invalid() != plain.invalid() {
			t.Fatalf("%s %v of %s: got %+v, want %q", a.text, r.Act, showSlot(slot), got, plain.invalid())
		}
		if left, _ := b.table.Slot(b.load(t, key)); !sameSlot(left, slot) {
			t.Fatalf("%s %v of %s: it is %s after an error", a.text, r.Act, showSlot(slot), showSlot(left))
		}
		return
	}
	answer, err := got.answer(request)
	if err != nil {
		t.Fatalf("%s %v %v of %s: %v", a.text, u.Kind(), r.Act, showSlot(slot), err)
	}
	if done && request.Check != nil {
		want = slot // it changes nothing
	}
	b.checkSlots(t, r, slot, key, want, done, answer)
	hidden(t, answer.Slot.Content)
	switch returned := request.Returned(got.returned); {
	case done:
		hidden(t, returned)
		if plainFailed || !attribute.Same(alike(returned), alike(plain.returned)) {
			t.Fatalf("%s %v of %s: got %s, want %s", a.text, r.Act, showSlot(slot), show(returned), show(plain.returned))
		}
	case slot.State.Forwarded(), r.Act == forward.WriteExisting && slot.State == forward.Absent,
		r.Act == forward.WriteOwn && slot.Copied > r.Generation: // another request follows
	default:
		refused := u.Refused(answer)
		item, failed := outcome{err: refused}.failed()
		hidden(t, item)
		if failed != plainFailed || !attribute.Same(alike(item), alike(plainItem)) || !attribute.Same(before, after) || len(plain.returned) > 0 {
			t.Fatalf("%s %v of %s: got %v with %s, want %+v with %s", a.text, r.Act, showSlot(slot), refused, show(item), plain, show(plainItem))
		}
	}
}
