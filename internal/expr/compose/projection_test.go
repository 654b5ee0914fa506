package compose

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func TestProject(t *testing.T) {
	in := &dynamodb.GetItemInput{AttributesToGet: []string{"n", "pk"}}
	if added, err := Project(in, []string{"pk", "ttl"}); err != nil || len(added) != 1 || added[0] != "ttl" || len(in.AttributesToGet) != 3 {
		t.Errorf("got %q, %v and %q, want ttl to be added", added, err, in.AttributesToGet)
	}
	in = &dynamodb.GetItemInput{ProjectionExpression: aws.String("n"), ExpressionAttributeNames: map[string]string{"#hs_x": "n"}}
	if _, err := Project(in, []string{"pk"}); err == nil {
		t.Error("a placeholder of heatsink's own was accepted")
	}
}
