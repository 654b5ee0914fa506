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
	shared := []string{"n", "x"}
	if _, err := Project(&dynamodb.GetItemInput{AttributesToGet: shared[:1]}, []string{"pk"}); err != nil || shared[1] != "x" {
		t.Errorf("got %v and %q, want the caller's array unchanged", err, shared)
	}
	in = &dynamodb.GetItemInput{ProjectionExpression: aws.String("n"), ExpressionAttributeNames: map[string]string{"#hs_x": "n"}}
	if _, err := Project(in, []string{"pk"}); err == nil {
		t.Error("a placeholder of heatsink's own was accepted")
	}
}

func TestPartOf(t *testing.T) {
	names := map[string]string{"#s": "sk"}
	for projection, want := range map[string]string{
		"a, b.c":         "",
		"sk, a":          "",
		"a, sk.x":        "sk.x",
		"#s[0], a":       "#s[0]",
		"a.sk, b":        "",
		" #s.x , sk.y":   "#s.x",
		"skip.a, sk2[1]": "",
	} {
		path, whole, ok := PartOf(projection, names, []string{"pk", "sk"})
		if path != want || ok != (want != "") || ok && whole != "sk" {
			t.Errorf("%q: got %q of %q, %t, want %q", projection, path, whole, ok, want)
		}
	}
}
