package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// List returns all live sessions, without their ids, those that expire first in front. Nothing is sent before the loop
// starts. An error is the last pair. It costs at least one Query per shard, half a read unit for each, and half a unit
// for every 4 KB.
//
// List uses an index, which is eventually consistent. A session that is touched meanwhile moves back, so it may be
// returned twice, but it is not left out, except with Options.Adaptive while the list grows. With StrictRevocation, List may return sessions that RevokeUser has ended.
func (s *Store[T]) List(ctx context.Context) iter.Seq2[Session[T], error] {
	return sessions[T](s.records(func(now int64) iter.Seq2[heatsink.Item, error] {
		return s.living.Query(ctx, heatsink.Query{MaxRequests: anyNumber, Key: ListKey, Sort: livingAt(now)})
	}))
}

// ByUser returns the live sessions of a user, as List does. It costs a Query of half a read unit for every 4 KB. With
// StrictRevocation it leaves out sessions that RevokeUser has ended.
func (s *Store[T]) ByUser(ctx context.Context, user string) iter.Seq2[Session[T], error] {
	return func(yield func(Session[T], error) bool) {
		if err := checkText(user); err != nil {
			yield(Session[T]{}, fmt.Errorf("sessions of a user: %w: the user: %w", ErrInput, err))
			return
		}
		epoch, err := s.epoch(ctx, user)
		if err != nil {
			yield(Session[T]{}, err)
			return
		}
		sessions[T](func(yield func(record, error) bool) {
			for r, err := range s.ofUser(ctx, user) {
				if err == nil && r.version.epoch < epoch {
					continue
				}
				if !yield(r, err) {
					return
				}
			}
		})(yield)
	}
}

// Count returns the number of live sessions. It uses the same index as List, so a session that is touched meanwhile may
// count twice. No session is transferred, but DynamoDB charges as if it were.
func (s *Store[T]) Count(ctx context.Context) (int, error) {
	n, err := s.living.Count(ctx, heatsink.Query{MaxRequests: anyNumber, Key: ListKey, Sort: livingAt(time.Now().Unix())})
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return n, nil
}

// Page is a part of the list of sessions.
type Page[T any] struct {
	Sessions []Session[T]
	Next     string // the token of the next page; empty after the last
}

// Page returns a part of the result of List: at most limit sessions after the page whose Next is token, or the first
// ones if token is empty. A page may have fewer sessions, or none, and still not be the last.
func (s *Store[T]) Page(ctx context.Context, limit int, token string) (Page[T], error) {
	if limit < 1 {
		return Page[T]{}, fmt.Errorf("page of sessions: %w: the limit is %d, want at least 1", ErrInput, limit)
	}
	// All pages are of one query, that of who lived when the first was read. The dead since then are left out.
	since, rest := time.Now().Unix(), ""
	if token != "" {
		text, after, ok := strings.Cut(token, ".")
		n, err := strconv.ParseInt(text, 36, 64)
		if !ok || err != nil || after == "" {
			return Page[T]{}, fmt.Errorf("page of sessions: %w: the token is not from a page of sessions", ErrToken)
		}
		since, rest = n, after
	}
	found, err := s.living.Page(ctx, heatsink.Query{MaxRequests: anyNumber, Key: ListKey, Sort: livingAt(since), Limit: limit}, rest)
	if err != nil {
		return Page[T]{}, fmt.Errorf("page of sessions: %w", err)
	}
	var page Page[T]
	if found.Next != "" {
		page.Next = strconv.FormatInt(since, 36) + "." + found.Next
	}
	for _, item := range found.Items {
		r, err := s.options.Names.record(item, time.Now())
		if errors.Is(err, errDead) {
			continue
		}
		var session Session[T]
		if err == nil {
			session, err = fromRecord[T](r)
		}
		if err != nil {
			return Page[T]{}, err
		}
		page.Sessions = append(page.Sessions, session)
	}
	return page, nil
}

// livingAt is the condition for sessions that live at a time, in seconds: they expire in a later second.
func livingAt(seconds int64) heatsink.Range { return heatsink.Greater(seconds) }

// ofUser returns the living of a user.
func (s *Store[T]) ofUser(ctx context.Context, user string) iter.Seq2[record, error] {
	return s.records(func(now int64) iter.Seq2[heatsink.Item, error] {
		return s.users.Query(ctx, user, func(in *dynamodb.QueryInput) {
			in.KeyConditionExpression = aws.String("#user = :user AND #expires > :now")
			in.ExpressionAttributeNames = map[string]string{"#user": s.options.Names.User, "#expires": s.options.Names.Expires}
			in.ExpressionAttributeValues = heatsink.Item{":user": text(user), ":now": number(now)}
		})
	})
}

// records returns the living that an index lists at a time, in seconds. Those who die before their turn comes are left
// out.
func (s *Store[T]) records(list func(now int64) iter.Seq2[heatsink.Item, error]) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for item, err := range list(time.Now().Unix()) {
			var r record
			if err == nil {
				r, err = s.options.Names.record(item, time.Now())
				if errors.Is(err, errDead) {
					continue
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// sessions makes sessions of records.
func sessions[T any](records iter.Seq2[record, error]) iter.Seq2[Session[T], error] {
	return func(yield func(Session[T], error) bool) {
		for r, err := range records {
			var session Session[T]
			if err != nil {
				yield(session, fmt.Errorf("list sessions: %w", err))
				return
			}
			session, err = fromRecord[T](r)
			if !yield(session, err) || err != nil {
				return
			}
		}
	}
}
