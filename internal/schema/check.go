package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// ErrMismatch is wrapped when a table is not what is needed.
var ErrMismatch = errors.New("the table is not set up as required")

func (t Table) check(ctx context.Context, client heatsink.TableClient, found *types.TableDescription) error {
	faults := t.faults(found)
	if t.TTL != "" {
		fault, err := t.checkTTL(ctx, client)
		if err != nil {
			return err
		}
		if fault != nil {
			faults = append(faults, fault)
		}
	}
	if faults != nil {
		return fmt.Errorf("%w: table %q: %w", ErrMismatch, t.Name, errors.Join(faults...))
	}
	return nil
}

// faults returns everything that is wrong with the keys of a table and its indexes.
func (t Table) faults(found *types.TableDescription) []error {
	kinds := make(map[string]types.ScalarAttributeType)
	for _, definition := range found.AttributeDefinitions {
		kinds[aws.ToString(definition.AttributeName)] = definition.AttributeType
	}
	var faults []error
	if has, wants := keyText(found.KeySchema, kinds), t.Key.String(); has != wants {
		faults = append(faults, fmt.Errorf("its key is %s, want %s", has, wants))
	}
	for _, index := range t.Indexes {
		if fault := index.check(found.GlobalSecondaryIndexes, kinds); fault != nil {
			faults = append(faults, fault)
		}
	}
	return faults
}

func (x Index) check(found []types.GlobalSecondaryIndexDescription, kinds map[string]types.ScalarAttributeType) error {
	i := slices.IndexFunc(found, func(index types.GlobalSecondaryIndexDescription) bool {
		return aws.ToString(index.IndexName) == x.Name
	})
	if i < 0 {
		return fmt.Errorf("it has no index %q", x.Name)
	}
	if has, wants := keyText(found[i].KeySchema, kinds), x.Key.String(); has != wants {
		return fmt.Errorf("the key of index %q is %s, want %s", x.Name, has, wants)
	}
	if p := found[i].Projection; p == nil || p.ProjectionType != types.ProjectionTypeAll {
		return fmt.Errorf("index %q does not project all attributes", x.Name)
	}
	return nil
}

func (t Table) checkTTL(ctx context.Context, client heatsink.TableClient) (fault, err error) {
	on, attribute, err := t.describeTTL(ctx, client)
	switch {
	case err != nil:
		return nil, err
	case !on:
		return fmt.Errorf("its time to live is disabled, want it on attribute %q: %s", t.TTL, t.remedy()), nil
	case attribute != t.TTL:
		return fmt.Errorf("its time to live is on attribute %q, want %q", attribute, t.TTL), nil
	}
	return nil, nil
}

// remedy says how the time to live is turned on, and what that does to items which are there.
func (t Table) remedy() string {
	return fmt.Sprintf("turn it on with UpdateTimeToLive, after which DynamoDB deletes every item whose %q is in the past: "+
		"aws dynamodb update-time-to-live --table-name %s --time-to-live-specification Enabled=true,AttributeName=%s", t.TTL, t.Name, t.TTL)
}

// String returns the key as in (pk S, sk N).
func (k Key) String() string {
	var parts []string
	for _, attribute := range k.attributes() {
		parts = append(parts, attribute.Name+" "+string(attribute.Type))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// keyText returns a key that was found as Key.String would.
func keyText(elements []types.KeySchemaElement, kinds map[string]types.ScalarAttributeType) string {
	var parts []string
	for _, element := range elements {
		name := aws.ToString(element.AttributeName)
		parts = append(parts, name+" "+string(kinds[name]))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
