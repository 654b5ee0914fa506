package eventlog

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
)

// An item that is taken to be too large is: DynamoDB refuses it, too. And what it refuses by far is taken to be too large.
func TestItemSize(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "items", "pk"); err != nil {
		t.Fatal(err)
	}
	text := func(n int) types.AttributeValue {
		return &types.AttributeValueMemberS{Value: strings.Repeat("ü", n/2)}
	}
	number := &types.AttributeValueMemberN{Value: "1234567890123456789012345678901234567"}
	numbers := &types.AttributeValueMemberL{Value: make([]types.AttributeValue, 18_000)}
	for i := range numbers.Value {
		numbers.Value[i] = number
	}
	for name, value := range map[string]func(n int) types.AttributeValue{
		"text":   text,
		"binary": func(n int) types.AttributeValue { return &types.AttributeValueMemberB{Value: make([]byte, n)} },
		"texts": func(n int) types.AttributeValue {
			return &types.AttributeValueMemberSS{Value: []string{"a", strings.Repeat("x", n)}}
		},
		"list": func(n int) types.AttributeValue {
			return &types.AttributeValueMemberL{Value: []types.AttributeValue{text(n), number, &types.AttributeValueMemberBOOL{}}}
		},
		"map": func(n int) types.AttributeValue {
			return &types.AttributeValueMemberM{Value: heatsink.Item{"a": text(n), "b": &types.AttributeValueMemberNULL{Value: true}}}
		},
	} {
		for n := maxItem - 100; n < maxItem+10; n += 12 {
			item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "a"}, "v": value(n)}
			_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item})
			if size := itemSize(item); size > maxItem && err == nil || size < maxItem-40 && err != nil {
				t.Errorf("%s of %d: size %d, DynamoDB says %v", name, n, size, err)
			}
		}
	}
	if size := itemSize(heatsink.Item{"v": numbers}); size > maxItem {
		t.Errorf("numbers of unknown length are taken to have %d bytes", size)
	}
}
