package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// CreateOption makes a session different from others.
type CreateOption func(*terms)

// terms are how a session is created.
type terms struct {
	id           string
	given        bool
	idle, maxAge time.Duration
}

// WithID gives the session an id instead of a random one. Never take it from a browser: whoever chooses the id of
// somebody else's session can use it.
func WithID(id string) CreateOption { return func(t *terms) { t.id, t.given = id, true } }

// WithIdle is Options.Idle for one session, rounded up to seconds.
func WithIdle(d time.Duration) CreateOption { return func(t *terms) { t.idle = d } }

// WithMaxAge is Options.MaxAge for one session; 0 is for ever.
func WithMaxAge(d time.Duration) CreateOption { return func(t *terms) { t.maxAge = d } }

// Create starts a session of a user, who is "" if there is none. It never replaces another: an id that was given and
// is taken, or was revoked less than an hour ago, is ErrExists. It costs a request and 3 write units for up to 1 KB.
//
// If the error is a heatsink.UnknownOutcomeError the session may have been created; if its id was random nobody
// will ever know it, and it ends by itself.
func (s *Store[T]) Create(ctx context.Context, user string, data T, options ...CreateOption) (Session[T], error) {
	r, id, err := s.newRecord(user, data, options)
	if err != nil {
		return Session[T]{}, fmt.Errorf("create session: %w", err)
	}
	epoch, err := s.epoch(ctx, user)
	if err != nil {
		return Session[T]{}, err
	}
	r.version = newVersion(epoch)
	n := &s.options.Names
	_, err = s.living.Put(ctx, n.item(r), func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(#id) OR #expires <= :now")
		in.ExpressionAttributeNames = map[string]string{"#id": n.ID, "#expires": n.Expires}
		in.ExpressionAttributeValues = heatsink.Item{":now": seconds(r.created)}
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
	if there, taken := refused(err); taken {
		if lost(err) && n.isOf(there, r.version) {
			err = nil // the attempt whose answer was lost has created it
		} else {
			err = fmt.Errorf("%w: %w", ErrExists, err)
		}
	}
	if err != nil {
		return Session[T]{}, fmt.Errorf("create session %q: %w", r.handle, err)
	}
	created, err := fromRecord[T](r) // from what is stored, so that it is what Get returns
	created.ID = id
	return created, err
}

// newRecord returns a session as it is to be stored, but for its version, and its id.
func (s *Store[T]) newRecord(user string, data T, options []CreateOption) (r record, id string, err error) {
	t := terms{idle: s.options.Idle, maxAge: s.options.MaxAge}
	for _, option := range options {
		option(&t)
	}
	if !t.given {
		t.id = newID()
	}
	var faults []error
	wrong := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: %s: %w", ErrInput, what, err))
		}
	}
	handle, err := s.options.handle(t.id)
	wrong("the id", err)
	if user != "" {
		wrong("the user", checkText(user))
	}
	wrong("the idle time", checkIdle(t.idle))
	wrong("the maximum age", checkMaxAge(t.maxAge))
	value, err := attributevalue.Marshal(data)
	wrong("the data", err)
	if err := errors.Join(faults...); err != nil {
		return r, "", err
	}
	now := time.Now()
	r = record{handle: handle, user: user, created: now.Truncate(time.Second).UTC(), data: value}
	r.idle = (t.idle + time.Second - 1).Truncate(time.Second)
	r.expires = roundUp(now.Add(r.idle))
	if t.maxAge > 0 {
		r.deadline = roundUp(now.Add(t.maxAge))
		if r.deadline.Before(r.expires) {
			r.expires = r.deadline
		}
	}
	return r, t.id, nil
}
