package wire

import (
	"slices"
	"testing"
)

func TestOperationsAreListed(t *testing.T) {
	all := Operations()
	for _, want := range []Operation{
		{Service: "cloudwatch", Name: "GetMetricData"},
		{Service: "dynamodb", Name: "PutItem"},
		{Service: "dynamodb", Name: "SearchVectors", Refused: true},
		{Service: "dynamodbstreams", Name: "GetRecords"},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%+v is not among them", want)
		}
	}
	if got, want := len(all), len(operations)+len(metricOperations); got != want {
		t.Errorf("got %d operations, want %d", got, want)
	}
}
