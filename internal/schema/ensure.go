package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Client is the part of the SDK's client that tables are created and looked at with.
type Client interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Ensure creates the table if there is none, waits until it can be used, and checks it as Check does. It changes nothing
// about a table that is there already. Several processes may call it at once.
func (t Table) Ensure(ctx context.Context, client Client) error {
	found, err := t.describe(ctx, client)
	if err != nil {
		return err
	}
	if found == nil {
		if err := t.create(ctx, client); err != nil {
			return err
		}
	}
	if found, err = t.await(ctx, client, found); err != nil {
		return err
	}
	if t.TTL != "" && isNew(found) {
		if err := t.enableTTL(ctx, client); err != nil {
			return err
		}
	}
	return t.check(ctx, client, found)
}

// isNew reports whether the table is so young that whoever created it, here or in another process, may not have come to
// its time to live yet.
func isNew(table *types.TableDescription) bool {
	return table.CreationDateTime != nil && time.Since(*table.CreationDateTime) < time.Minute
}

// Check reports everything that the table lacks, in an error that wraps ErrMismatch. It is also ErrMismatch if there is no
// such table.
func (t Table) Check(ctx context.Context, client Client) error {
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
func (t Table) describe(ctx context.Context, client Client) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)})
	if none := (*types.ResourceNotFoundException)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe table %q: %w", t.Name, err)
	}
	return out.Table, nil
}

func (t Table) create(ctx context.Context, client Client) error {
	_, err := client.CreateTable(ctx, t.Input())
	if inUse := (*types.ResourceInUseException)(nil); err != nil && !errors.As(err, &inUse) { // else somebody was faster
		return fmt.Errorf("create table %q: %w", t.Name, err)
	}
	return nil
}

// enableTTL turns the time to live on unless it is on already, in whatever attribute.
func (t Table) enableTTL(ctx context.Context, client Client) error {
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

// describeTTL reports whether the time to live is on, and in which attribute.
func (t Table) describeTTL(ctx context.Context, client Client) (on bool, attribute string, err error) {
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

// await waits until the table and its indexes can be used. found is what is known of it, if anything.
func (t Table) await(ctx context.Context, client Client, found *types.TableDescription) (*types.TableDescription, error) {
	for wait := 100 * time.Millisecond; !usable(found); wait = min(2*wait, 5*time.Second) {
		if found != nil {
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("table %q is %s: %w", t.Name, found.TableStatus, context.Cause(ctx))
			case <-time.After(wait):
			}
		}
		var err error
		if found, err = t.describe(ctx, client); err != nil {
			return nil, err
		}
		if found == nil {
			return nil, fmt.Errorf("%w: table %q was deleted", ErrMismatch, t.Name)
		}
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
