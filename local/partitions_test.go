package local_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/local"
)

// What Partitions returns says all that the server's /partitions does, under the same names: a field that the engine
// has and the public type lacks is lost on the way.
func TestPartitionsTellAllThatTheEngineKnows(t *testing.T) {
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(t.Context(), "events", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("events"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberS{Value: "b"},
	}}); err != nil {
		t.Fatal(err)
	}
	heat, err := db.Partitions(t.Context(), "events", time.Minute)
	if err != nil || len(heat) != 1 || len(heat[0].Partitions) != 4 {
		t.Fatalf("got %+v, %v", heat, err)
	}
	heat[0].Splits = append(heat[0].Splits, local.Split{Cause: "heat"})
	heat[0].Partitions[0].Obstacle, heat[0].Index = "an obstacle", "an index" // so that nothing is left out
	text, err := json.Marshal(heat)
	if err != nil {
		t.Fatal(err)
	}
	var inside []engine.Heat
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&inside); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(inside)
	if err != nil || string(again) != string(text) {
		t.Errorf("got %s, %v\nwant %s", text, err, again)
	}
}
