package heat

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// A value of a stream is the same value as the table's client has it, whatever its type.
func TestStreamValues(t *testing.T) {
	for _, test := range []struct {
		from streamtypes.AttributeValue
		want types.AttributeValue
	}{
		{&streamtypes.AttributeValueMemberS{Value: "a"}, &types.AttributeValueMemberS{Value: "a"}},
		{&streamtypes.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberN{Value: "1"}},
		{&streamtypes.AttributeValueMemberB{Value: []byte("b")}, &types.AttributeValueMemberB{Value: []byte("b")}},
		{&streamtypes.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberBOOL{Value: true}},
		{&streamtypes.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberNULL{Value: true}},
		{&streamtypes.AttributeValueMemberSS{Value: []string{"a", "b"}}, &types.AttributeValueMemberSS{Value: []string{"a", "b"}}},
		{&streamtypes.AttributeValueMemberNS{Value: []string{"1", "2"}}, &types.AttributeValueMemberNS{Value: []string{"1", "2"}}},
		{&streamtypes.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}}, &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}}},
		{
			&streamtypes.AttributeValueMemberL{Value: []streamtypes.AttributeValue{&streamtypes.AttributeValueMemberS{Value: "a"}, &streamtypes.AttributeValueMemberN{Value: "1"}}},
			&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "a"}, &types.AttributeValueMemberN{Value: "1"}}},
		},
		{
			&streamtypes.AttributeValueMemberM{Value: map[string]streamtypes.AttributeValue{"k": &streamtypes.AttributeValueMemberS{Value: "a"}}},
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: "a"}}},
		},
	} {
		if got := streamValue(test.from); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%T: got %+v, want %+v", test.from, got, test.want)
		}
	}
}
