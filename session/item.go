package session

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// ListKey is the key that all sessions are listed under, before it is spread over shards. Store.Ledgers takes it.
const ListKey = "SESSIONS"

// keep is how long an item stays in the table after its session is over. A request that was sent twice and arrives
// late must find that the session it is about is over, or else a Create would start it again. DynamoDB refuses requests
// whose signature is more than 15 minutes off. If the sender's clock is ahead by as much, one may arrive 30 minutes after
// it was sent, and the clock of who revokes may be 15 minutes behind: an hour is longer than these 45 minutes.
const keep = time.Hour

// record is a session as it is stored, but for its data. One that was revoked has no version.
type record struct {
	handle   string
	user     string
	version  version
	created  time.Time
	expires  time.Time
	deadline time.Time
	idle     time.Duration
	data     types.AttributeValue
}

// item returns a new session's item.
func (n *Names) item(r record) heatsink.Item {
	item := heatsink.Item{
		n.ID:      text(r.handle),
		n.List:    text(ListKey),
		n.Expires: seconds(r.expires),
		n.TTL:     deletion(r.expires),
		n.Created: seconds(r.created),
		n.Idle:    number(int64(r.idle / time.Second)),
		n.Version: text(r.version.String()),
		n.Data:    r.data,
	}
	if r.user != "" {
		item[n.User] = text(r.user)
	}
	if !r.deadline.IsZero() {
		item[n.Until] = seconds(r.deadline)
	}
	return item
}

// record reads an item. It is errDead unless it is a session that lives at a time.
func (n *Names) record(item heatsink.Item, now time.Time) (r record, err error) {
	if item == nil || item[n.Version] == nil {
		return r, errDead
	}
	f := fields{item: item}
	r.handle = f.text(n.ID)
	if item[n.User] != nil {
		r.user = f.text(n.User)
	}
	r.version = f.version(n.Version)
	r.created = f.time(n.Created)
	r.expires = f.time(n.Expires)
	if item[n.Until] != nil {
		r.deadline = f.time(n.Until)
	}
	r.idle = time.Duration(f.number(n.Idle)) * time.Second
	r.data = item[n.Data]
	if f.err != nil {
		return r, fmt.Errorf("session %q: %w", r.handle, f.err)
	}
	if !now.Before(r.expires) {
		return r, errDead
	}
	return r, nil
}

// errDead is ErrNotFound without saying what was not found.
var errDead = errors.New("it has expired or was revoked")

// fields reads the attributes of an item and keeps the first fault.
type fields struct {
	item heatsink.Item
	err  error
}

func (f *fields) wrong(name, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("attribute %q is not %s", name, want)
	}
}

func (f *fields) text(name string) string {
	v, ok := f.item[name].(*types.AttributeValueMemberS)
	if !ok {
		f.wrong(name, "a string")
		return ""
	}
	return v.Value
}

func (f *fields) number(name string) int64 {
	v, ok := f.item[name].(*types.AttributeValueMemberN)
	if !ok {
		f.wrong(name, "a number")
		return 0
	}
	i, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		f.wrong(name, "an integer")
	}
	return i
}

func (f *fields) time(name string) time.Time { return time.Unix(f.number(name), 0).UTC() }

func (f *fields) version(name string) version {
	v, err := parseVersion(f.text(name))
	if err != nil {
		f.wrong(name, "a version")
	}
	return v
}

// fromRecord makes a session of a record. Data that do not fit T are a heatsink.DecodeError.
func fromRecord[T any](r record) (s Session[T], err error) {
	s = Session[T]{
		Handle: r.handle, User: r.user, Version: r.version.String(),
		Created: r.created, Expires: r.expires, Deadline: r.deadline, Idle: r.idle,
	}
	if r.data == nil {
		return s, nil
	}
	if err := attributevalue.Unmarshal(r.data, &s.Data); err != nil {
		err = &heatsink.DecodeError{Item: heatsink.Item{"data": r.data}, Err: err}
		return s, fmt.Errorf("session %q: its data: %w", r.handle, err)
	}
	return s, nil
}

// encode returns data as they are stored.
func encode(data any) (types.AttributeValue, error) {
	value, err := attributevalue.Marshal(data)
	if err == nil && value == nil { // as for functions and channels: the attribute would be missing
		err = fmt.Errorf("type %T has no DynamoDB form", data)
	}
	return value, err
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func seconds(t time.Time) types.AttributeValue { return number(t.Unix()) }

// deletion returns when DynamoDB may delete a session that expires at a time.
func deletion(expires time.Time) types.AttributeValue { return seconds(expires.Add(keep)) }
