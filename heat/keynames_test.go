package heat

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names come from descriptions, unless the options give those of the partition key.
func TestKeyNames(t *testing.T) {
	schema := []types.KeySchemaElement{
		{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
	}
	var learnt keyNames
	given := keyNames{partition: []string{"mine"}, given: true}
	if learnt.known() || !given.known() {
		t.Error("names are known that nobody gave, or the other way round")
	}
	for _, k := range []*keyNames{&learnt, &given} {
		k.learn(schema)
		k.learn(nil) // says nothing
	}
	if !slices.Equal(learnt.partition, []string{"pk"}) || !slices.Equal(learnt.sort, []string{"sk"}) || !slices.Equal(given.partition, []string{"mine"}) || !slices.Equal(given.sort, []string{"sk"}) {
		t.Errorf("got %+v and %+v", learnt, given)
	}
	for _, test := range []struct {
		names []string
		want  bool
	}{{nil, true}, {[]string{"pk"}, true}, {[]string{"sk", "pk"}, true}, {[]string{"sk", "other"}, false}, {[]string{"other"}, false}} {
		if got := learnt.has(test.names); got != test.want {
			t.Errorf("%q: got %v", test.names, got)
		}
	}
	learnt.forget()
	given.forget()
	if learnt.known() || learnt.sort != nil || !given.known() || given.sort != nil {
		t.Errorf("got %+v and %+v", learnt, given)
	}
}
