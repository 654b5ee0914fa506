package heatlambda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Record converts a record of a Lambda event to that of the SDK. An error names an attribute of a type that DynamoDB does
// not have.
func Record(r events.DynamoDBEventRecord) (streamtypes.Record, error) {
	fail := func(err error) (streamtypes.Record, error) {
		return streamtypes.Record{}, fmt.Errorf("heatlambda: record %q: %w", r.EventID, err)
	}
	converted := &streamtypes.StreamRecord{
		SequenceNumber: aws.String(r.Change.SequenceNumber), SizeBytes: aws.Int64(r.Change.SizeBytes),
		StreamViewType: streamtypes.StreamViewType(r.Change.StreamViewType),
	}
	if at := r.Change.ApproximateCreationDateTime; !at.IsZero() {
		converted.ApproximateCreationDateTime = aws.Time(at.Time)
	}
	var err error
	if converted.Keys, err = image(r.Change.Keys); err != nil {
		return fail(err)
	}
	if converted.OldImage, err = image(r.Change.OldImage); err != nil {
		return fail(err)
	}
	if converted.NewImage, err = image(r.Change.NewImage); err != nil {
		return fail(err)
	}
	record := streamtypes.Record{
		EventID: aws.String(r.EventID), EventName: streamtypes.OperationType(r.EventName), AwsRegion: aws.String(r.AWSRegion),
		EventSource: aws.String(r.EventSource), EventVersion: aws.String(r.EventVersion), Dynamodb: converted,
	}
	if who := r.UserIdentity; who != nil {
		record.UserIdentity = &streamtypes.Identity{Type: aws.String(who.Type), PrincipalId: aws.String(who.PrincipalID)}
	}
	return record, nil
}

// image converts an item. None stays none: an image that is missing means something else than an empty one.
func image(item map[string]events.DynamoDBAttributeValue) (map[string]streamtypes.AttributeValue, error) {
	if item == nil {
		return nil, nil
	}
	converted := make(map[string]streamtypes.AttributeValue, len(item))
	for name, v := range item {
		value, err := attribute(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		converted[name] = value
	}
	return converted, nil
}

// attribute converts a value.
func attribute(v events.DynamoDBAttributeValue) (streamtypes.AttributeValue, error) {
	if v.IsNull() && v.DataType() != events.DataTypeNull { // the zero value, whose methods panic
		return nil, errors.New("it has no value")
	}
	switch v.DataType() {
	case events.DataTypeString:
		return &streamtypes.AttributeValueMemberS{Value: v.String()}, nil
	case events.DataTypeNumber:
		return &streamtypes.AttributeValueMemberN{Value: v.Number()}, nil
	case events.DataTypeBinary:
		return &streamtypes.AttributeValueMemberB{Value: v.Binary()}, nil
	case events.DataTypeBoolean:
		return &streamtypes.AttributeValueMemberBOOL{Value: v.Boolean()}, nil
	case events.DataTypeNull:
		return &streamtypes.AttributeValueMemberNULL{Value: true}, nil
	case events.DataTypeStringSet:
		return &streamtypes.AttributeValueMemberSS{Value: slices.Clone(v.StringSet())}, nil
	case events.DataTypeNumberSet:
		return &streamtypes.AttributeValueMemberNS{Value: slices.Clone(v.NumberSet())}, nil
	case events.DataTypeBinarySet:
		return &streamtypes.AttributeValueMemberBS{Value: slices.Clone(v.BinarySet())}, nil
	case events.DataTypeMap:
		members, err := image(v.Map())
		return &streamtypes.AttributeValueMemberM{Value: members}, err
	case events.DataTypeList:
		var list []streamtypes.AttributeValue
		for i, member := range v.List() {
			value, err := attribute(member)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			list = append(list, value)
		}
		return &streamtypes.AttributeValueMemberL{Value: list}, nil
	}
	return nil, fmt.Errorf("type %d is not one of DynamoDB's", v.DataType())
}
