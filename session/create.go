package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// CreateOption changes the settings of one session.
type CreateOption func(*terms)

// terms are how a session is created.
type terms struct {
	id           string
	given        bool
	idle, maxAge time.Duration
}

// WithID gives the session a fixed id instead of a random one. Never take the id from a browser: a person who chooses
// the id of another user's session can use that session.
func WithID(id string) CreateOption { return func(t *terms) { t.id, t.given = id, true } }

// WithIdle is Options.Idle for one session, rounded up to seconds.
func WithIdle(d time.Duration) CreateOption { return func(t *terms) { t.idle = d } }

// WithMaxAge is Options.MaxAge for one session; 0 is no limit.
func WithMaxAge(d time.Duration) CreateOption { return func(t *terms) { t.maxAge = d } }

// Create starts a session of a user; user is "" if there is none. It never replaces a session: the error is ErrExists
// if the given id is in use, or was revoked less than an hour ago. It costs one request, and 3 write units for up to 1
// KB.
//
// If the error is a heatsink.UnknownOutcomeError, the session may exist. If its id was random, nobody knows it, and the
// session expires by itself.
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
	if err = s.taken(r, err); err != nil {
		return Session[T]{}, fmt.Errorf("create session %q: %w", r.handle, err)
	}
	created, err := fromRecord[T](r) // from what is stored, so that it is what Get returns
	created.ID = id
	return created, err
}

// taken says what it means that a session could not be created because its id is taken. After a lost answer that may be
// by the session itself, which others may have touched since: its version has a part that no other session has.
func (s *Store[T]) taken(r record, err error) error {
	item, prevented := refused(err)
	switch {
	case !prevented:
		return err
	case !lost(err):
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	there, fault := s.options.Names.record(item, time.Time{})
	switch {
	case fault != nil: // it was revoked, or deleted, and nobody knows whether it was this one
		return err
	case there.version.sameSession(r.version):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrExists, err)
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
	value, err := encode(data)
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
