package replica

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
)

// refresh returns what the primary has, nil if there is none, and makes a copy have it too. seen is what was read of the
// copy before, nil if there is none. Readers of this process who meet the same copy at the same time share one refresh.
// own is true if this call has read the primary itself, so the read began after the call.
func (s *Store[T]) refresh(ctx context.Context, id, key string, seen *record) (r *record, own bool, err error) {
	for {
		f, leads := s.flights.join(key)
		if leads {
			r, err = s.lead(ctx, f, id, key, seen)
			return r, true, err
		}
		answered, err := f.wait(ctx)
		switch {
		case err != nil:
			return nil, false, err
		case !answered || f.abandoned || f.overdue(s.options.MaxStale):
			continue // it has ended or is replaced by the next who joins
		case f.err != nil:
			return nil, false, f.err
		}
		return f.record.clone(), false, nil
	}
}

// wait waits until a flight has read the primary, and returns false if that takes too long.
func (f *flight) wait(ctx context.Context) (answered bool, err error) {
	late := time.NewTimer(time.Until(f.began.Add(patience)))
	defer late.Stop()
	select {
	case <-f.read:
		return true, nil
	case <-late.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// lead reads the primary, lets others have it, and writes the copy. A copy that cannot be written at once, or soon, is left
// to the next reader.
func (s *Store[T]) lead(ctx context.Context, f *flight, id, key string, seen *record) (r *record, err error) {
	defer s.flights.end(key, f)
	if r, err = s.readFor(ctx, f, id, key); err != nil {
		return nil, err
	}
	soon, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if fault := s.mend(soon, s.once, key, seen, r, f.began); fault != nil {
		s.options.Logger.DebugContext(ctx, "copy not refreshed", "table", s.options.Table, "copy", key, "reason", fault)
	}
	return r, nil
}

// readFor reads the primary for a flight. If it cannot, the flight ends before anybody is told, so that they can begin
// another.
func (s *Store[T]) readFor(ctx context.Context, f *flight, id, key string) (*record, error) {
	defer close(f.read)
	f.abandoned = true // in case of a panic
	f.record, f.err = s.readPrimary(ctx, id)
	f.abandoned = f.err != nil && ctx.Err() != nil
	if f.err != nil {
		s.flights.end(key, f)
	}
	return f.record.clone(), f.err
}

// mend writes to a copy what the primary had at a time, or deletes the copy if the primary was not there. seen is what
// the copy had before the primary was read: if that is newer, the primary has lost it, and the copy follows.
func (s *Store[T]) mend(ctx context.Context, table *direct.Table, key string, seen, primary *record, at time.Time) error {
	if primary == nil && seen == nil {
		return nil
	}
	var err error
	if primary == nil {
		err = table.Delete(ctx, heatsink.Item{s.options.Names.ID: text(key)}, func(in *dynamodb.DeleteItemInput) {
			in.ConditionExpression = aws.String("#version = :seen")
			in.ExpressionAttributeNames = map[string]string{"#version": s.options.Names.Version}
			in.ExpressionAttributeValues = heatsink.Item{":seen": number(int64(seen.version))}
		})
	} else {
		r := *primary
		r.checked = at
		err = s.writeCopy(ctx, table, key, r, seen)
	}
	if _, prevented := refused(err); prevented {
		return nil // somebody else has written it
	}
	return err
}

// writeCopy writes a copy unless it has a newer version than r, other than the one that was seen, or another program wrote
// it. Then the error has the item that is there.
func (s *Store[T]) writeCopy(ctx context.Context, table *direct.Table, key string, r record, seen *record) error {
	n := &s.options.Names
	return table.Put(ctx, n.copy(key, r, s.options.MaxStale), func(in *dynamodb.PutItemInput) {
		condition := "attribute_not_exists(#id) OR attribute_exists(#checked) AND (#version <= :version"
		in.ExpressionAttributeNames = map[string]string{"#id": n.ID, "#checked": n.Checked, "#version": n.Version}
		in.ExpressionAttributeValues = heatsink.Item{":version": number(int64(r.version))}
		if seen != nil && seen.version > r.version {
			condition += " OR #version = :seen"
			in.ExpressionAttributeValues[":seen"] = number(int64(seen.version))
		}
		condition += ")"
		in.ConditionExpression = &condition
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
}

// clone returns a record whose data nobody else has: readers may change the bytes that they decode from it.
func (r *record) clone() *record {
	if r == nil {
		return nil
	}
	same := *r
	same.data = cloneValue(r.data)
	return &same
}

func cloneValue(value types.AttributeValue) types.AttributeValue {
	switch v := value.(type) {
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v.Value...)}
	case *types.AttributeValueMemberBS:
		same := make([][]byte, len(v.Value))
		for i, b := range v.Value {
			same[i] = append([]byte{}, b...)
		}
		return &types.AttributeValueMemberBS{Value: same}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: append([]string{}, v.Value...)}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: append([]string{}, v.Value...)}
	case *types.AttributeValueMemberL:
		same := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			same[i] = cloneValue(e)
		}
		return &types.AttributeValueMemberL{Value: same}
	case *types.AttributeValueMemberM:
		same := make(map[string]types.AttributeValue, len(v.Value))
		for name, e := range v.Value {
			same[name] = cloneValue(e)
		}
		return &types.AttributeValueMemberM{Value: same}
	}
	return value
}
