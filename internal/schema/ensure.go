package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// othersTurn is how long Ensure waits for another process to turn on the time to live of a table that it has just created:
// twice the longest pause of await, in which the other process may not have noticed yet that the table can be used.
const othersTurn = 10 * time.Second

// Ensure creates the table if there is none, waits until it can be used, and checks it as Check does. It changes nothing
// about a table that this call has not created. Several processes may call it at once.
//
// If a call ends between CreateTable and UpdateTimeToLive, no later call turns the time to live on: it would delete items
// of a table that may be somebody else's. Later calls return ErrMismatch, with the request that is missing.
func (t Table) Ensure(ctx context.Context, client heatsink.TableClient) error {
	if client == nil {
		return fmt.Errorf("set up table %q: %w: the client is nil", t.Name, heatsink.ErrOptions)
	}
	found, err := t.describe(ctx, client)
	if err != nil {
		return err
	}
	var created *types.TableDescription
	if found == nil {
		if created, err = t.create(ctx, client); err != nil {
			return err
		}
	}
	fresh := !usable(found) || isNew(found)
	if found, err = t.await(ctx, client, found); err != nil {
		return t.unfinished(created, err)
	}
	if t.TTL == "" || t.faults(found) != nil {
		return t.check(ctx, client, found)
	}
	switch {
	case same(created, found):
		err = t.enableTTL(ctx, client)
	case fresh:
		err = t.awaitTTL(ctx, client)
	}
	if err != nil {
		return t.unfinished(created, err)
	}
	return t.check(ctx, client, found)
}

// isNew reports whether the table is so young that another process, which created it, may not have come to its time to
// live yet.
func isNew(table *types.TableDescription) bool {
	return table.CreationDateTime != nil && time.Since(*table.CreationDateTime) < time.Minute
}

// same reports whether found is the table that this call created. It is not if somebody has deleted that one since and
// created another. An engine may leave the ids out.
func same(created, found *types.TableDescription) bool {
	if created == nil {
		return false
	}
	return created.TableId == nil || found.TableId == nil || *created.TableId == *found.TableId
}

// unfinished adds to the error of a call that it leaves a table without its time to live.
func (t Table) unfinished(created *types.TableDescription, err error) error {
	if created == nil || t.TTL == "" {
		return err
	}
	return fmt.Errorf("%w; the table %q was created, but its time to live may be disabled: delete the table and try again, or %s", err, t.Name, t.remedy())
}

// Check reports everything that the table lacks, in an error that wraps ErrMismatch. It is also ErrMismatch if there is no
// such table.
func (t Table) Check(ctx context.Context, client heatsink.TableClient) error {
	found, err := t.describe(ctx, client)
	if err != nil {
		return err
	}
	if found == nil {
		return fmt.Errorf("%w: there is no table %q", ErrMismatch, t.Name)
	}
	return t.check(ctx, client, found)
}

// describe returns nil if there is no such table.
func (t Table) describe(ctx context.Context, client heatsink.TableClient) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)})
	if none := (*types.ResourceNotFoundException)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe table %q: %w", t.Name, err)
	}
	return out.Table, nil
}

// create returns the table, or nil if somebody else has created it.
func (t Table) create(ctx context.Context, client heatsink.TableClient) (*types.TableDescription, error) {
	out, err := client.CreateTable(ctx, t.Input())
	if inUse := (*types.ResourceInUseException)(nil); errors.As(err, &inUse) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("create table %q: %w", t.Name, err)
	}
	if out.TableDescription == nil {
		return &types.TableDescription{}, nil
	}
	return out.TableDescription, nil
}

// enableTTL turns the time to live on unless it is on already, in whatever attribute.
func (t Table) enableTTL(ctx context.Context, client heatsink.TableClient) error {
	if on, _, err := t.describeTTL(ctx, client); err != nil || on {
		return err
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(t.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(t.TTL), Enabled: aws.Bool(true),
		},
	})
	if err == nil {
		return nil
	}
	if on, _, again := t.describeTTL(ctx, client); again == nil && on { // somebody was faster
		return nil
	}
	return fmt.Errorf("time to live of the new table %q: %w", t.Name, err)
}

// awaitTTL gives another process time to turn the time to live on.
func (t Table) awaitTTL(ctx context.Context, client heatsink.TableClient) error {
	for begin, wait := time.Now(), 100*time.Millisecond; time.Since(begin) < othersTurn; wait = min(2*wait, time.Second) {
		if on, _, err := t.describeTTL(ctx, client); err != nil || on {
			return err
		}
		if dispatch.Sleep(ctx, wait) != nil {
			return fmt.Errorf("time to live of table %q is disabled: %w", t.Name, context.Cause(ctx))
		}
	}
	return nil
}

// describeTTL reports whether the time to live is on, and in which attribute.
func (t Table) describeTTL(ctx context.Context, client heatsink.TableClient) (on bool, attribute string, err error) {
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(t.Name)})
	if err != nil {
		return false, "", fmt.Errorf("describe time to live of table %q: %w", t.Name, err)
	}
	ttl := out.TimeToLiveDescription
	if ttl == nil {
		return false, "", nil
	}
	on = ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled || ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling
	return on, aws.ToString(ttl.AttributeName), nil
}

// await waits until the table and its indexes can be used. found is what is known of it; nil if it has been created just
// now, when DynamoDB may still say for a while that there is none.
func (t Table) await(ctx context.Context, client heatsink.TableClient, found *types.TableDescription) (*types.TableDescription, error) {
	const first, longest = 100 * time.Millisecond, 5 * time.Second
	begin, created, wait := time.Now(), found == nil, first
	if created {
		wait = 0
	}
	for ; !usable(found); wait = min(max(2*wait, first), longest) {
		status := types.TableStatusCreating
		if found != nil {
			status = found.TableStatus
		}
		if dispatch.Sleep(ctx, wait) != nil {
			return nil, fmt.Errorf("table %q is %s: %w", t.Name, status, context.Cause(ctx))
		}
		var err error
		if found, err = t.describe(ctx, client); err != nil {
			return nil, err
		}
		if found == nil && (!created || time.Since(begin) > othersTurn) {
			return nil, fmt.Errorf("%w: table %q was deleted", ErrMismatch, t.Name)
		}
		created = created && found == nil
	}
	return found, nil
}

func usable(table *types.TableDescription) bool {
	if table == nil {
		return false
	}
	for _, index := range table.GlobalSecondaryIndexes {
		if index.IndexStatus == types.IndexStatusCreating {
			return false
		}
	}
	return table.TableStatus == types.TableStatusActive || table.TableStatus == types.TableStatusUpdating
}
