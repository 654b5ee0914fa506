package eventlog

import (
	"fmt"
	"maps"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// Event is something that happened.
type Event[T any] struct {
	// Log is the name of the log, such as OPS_LOG or THREAT#abc.
	Log string

	// At is the time of the event. Reads return it in UTC, with the digits of Options.Precision. Append replaces the
	// zero time by now.
	At time.Time

	// ID distinguishes events of the same log and time. If both At and ID are given, an append can be repeated, because
	// log, time and id identify the event. An id may have any characters. Append generates an id if it is empty.
	ID string

	// Body is the content of the event. Its attributes are stored beside those of the log, and must have other names.
	Body T

	// Position is the position of a Tail after this event. Only a Tail sets it.
	Position string
}

// record is an event on its way into the table.
type record struct {
	Receipt
	log   string
	key   string // the sort key
	known bool   // the caller gave the id
	// marked says that it gets Options.Mark: it is appended by itself, so that it matters who was the first.
	marked bool
	past   bool // it was late before it was sent
	item   heatsink.Item
}

// newRecord checks an event, which is appended alone or with others, and makes an item of it.
func newRecord[T any](c *core, e Event[T], now time.Time, alone bool) (*record, error) {
	wrong := func(format string, args ...any) (*record, error) {
		return nil, fmt.Errorf("%w: log %q: "+format, append([]any{ErrEvent, e.Log}, args...)...)
	}
	r := &record{log: e.Log, known: e.ID != "", marked: alone && e.ID != ""}
	r.At, r.ID = e.At, e.ID
	if err := c.checkEvent(r, now); err != nil {
		return wrong("%w", err)
	}
	if !r.known {
		r.ID = c.ids.id()
	}
	if r.key = c.stamps.key(r.At, r.ID); len(r.key) > maxSortKey {
		return wrong("the sort key has %d bytes, %d are the most: the id is too long", len(r.key), maxSortKey)
	}
	if layout.IsControl(e.Log) {
		return wrong("its name begins with %s, which is for heatsink's control items: name it differently", layout.ControlPrefix)
	}
	if _, err := c.options.layout().ShardKey(e.Log, r.At, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	var err error
	if r.item, err = encode(e.Body); err != nil {
		return wrong("%w", err)
	}
	if err := c.complete(r); err != nil {
		return wrong("%w", err)
	}
	if size := itemSize(r.item); size > maxItem {
		return wrong("it takes %d bytes, %d are the most that DynamoDB stores", size, maxItem)
	}
	return r, nil
}

// checkEvent checks an event's time and id, and makes the time what is stored.
func (c *core) checkEvent(r *record, now time.Time) error {
	o := &c.options
	switch {
	case r.known && r.At.IsZero():
		return fmt.Errorf("id %q has no time: give At as well, or a repeated append would store another event", r.ID)
	case !utf8.ValidString(r.ID):
		return fmt.Errorf("id %q is not valid UTF-8", r.ID)
	case r.At.IsZero():
		r.At = now
	}
	if err := checkTime(r.At); err != nil {
		return fmt.Errorf("time %w", err)
	}
	r.At = c.stamps.floor(r.At)
	r.past = now.Sub(r.At) >= o.Settle
	if r.At.Before(o.Begin) {
		return fmt.Errorf("time %v is before Options.Begin, %v", r.At, o.Begin)
	}
	if r.At.Before(c.oldest(now)) {
		return fmt.Errorf("time %v is older than Options.Retention, %v", r.At, o.Retention)
	}
	return nil
}

// complete adds the attributes to an item that are the log's own.
func (c *core) complete(r *record) error {
	o := &c.options
	for _, name := range c.names {
		if r.item[name] != nil {
			return fmt.Errorf("the body has an attribute %q, which the log uses itself: rename one of them", name)
		}
	}
	text := c.stamps.text(r.At)
	set := func(name, value string) {
		if name != "" {
			r.item[name] = &types.AttributeValueMemberS{Value: value}
		}
	}
	set(o.PartitionKey, r.log)
	set(o.SortKey, r.key)
	set(o.Time, text)
	if r.marked {
		set(o.Mark, c.ids.id())
	}
	if o.Retention > 0 {
		end := r.At.Add(o.Retention + time.Second - 1) // rounded up
		r.item[o.TTL] = &types.AttributeValueMemberN{Value: strconv.FormatInt(end.Unix(), 10)}
	}
	if o.Index.Name == "" {
		return nil
	}
	key := o.Index.Key(r.log)
	if key == "" || len(key) > maxPartitionKey || !utf8.ValidString(key) {
		return fmt.Errorf("Index.Key returned %q: want valid UTF-8 of 1 to %d bytes", key, maxPartitionKey)
	}
	set(o.Index.PartitionKey, key)
	set(o.Index.SortKey, o.Index.Prefix+text)
	return nil
}

// encode returns a body's attributes, in a map of its own.
func encode[T any](body T) (heatsink.Item, error) {
	if raw, ok := any(body).(heatsink.Item); ok {
		item := make(heatsink.Item, len(raw)+6)
		maps.Copy(item, raw)
		return item, nil
	}
	value, err := attributevalue.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", body, err)
	}
	attributes, ok := value.(*types.AttributeValueMemberM)
	if !ok {
		return nil, fmt.Errorf("a body of type %T has no attributes: want a struct with dynamodbav tags or a map", body)
	}
	if attributes.Value == nil {
		return heatsink.Item{}, nil
	}
	return attributes.Value, nil
}

// decode makes an event of an item.
func decode[T any](c *core, log, key string, item heatsink.Item) (Event[T], error) {
	for _, name := range c.names {
		delete(item, name)
	}
	e := Event[T]{Log: log}
	fail := func(err error) (Event[T], error) {
		return Event[T]{}, &DecodeError{Log: log, SortKey: key, Item: item, Err: err}
	}
	var err error
	if e.At, e.ID, err = c.stamps.parse(key); err != nil {
		return fail(err)
	}
	if body, ok := any(&e.Body).(*heatsink.Item); ok {
		*body = item
		return e, nil
	}
	if err := attributevalue.UnmarshalMap(item, &e.Body); err != nil {
		return fail(err)
	}
	return e, nil
}
