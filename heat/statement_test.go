package heat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// What statements of PartiQL read and write counts for their keys as other calls do, whether a key is a parameter or a literal,
// and callers see no more of the consumed capacity than they asked for.
func TestStatementsAreRecorded(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	execute := func(statement string, params ...types.AttributeValue) {
		t.Helper()
		out, err := client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: &statement, Parameters: params})
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if out.ConsumedCapacity != nil {
			t.Errorf("%s: the caller sees %+v", statement, out.ConsumedCapacity)
		}
	}
	execute(`INSERT INTO "views" VALUE {'pk': ?, 'sk': ?, 'body': ?}`, text("A"), text("1"), text(strings.Repeat("x", 2000)))
	execute(`INSERT INTO "views" VALUE {'pk': 'A', 'sk': '2', 'tags': [1, 2]}`)
	execute(`UPDATE "views" SET n = 1 WHERE pk = 'A' AND sk = ?`, text("2"))
	execute(`SELECT * FROM "views" WHERE pk = ? AND sk = '1'`, text("A"))
	execute(`SELECT * FROM "views" WHERE pk = 'B'`)
	execute(`SELECT * FROM "views" WHERE pk IN ['A', 'B']`)
	execute(`DELETE FROM "views" WHERE pk = ? AND sk = ?`, text("A"), text("2"))

	batch, err := client.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		Statements: []types.BatchStatementRequest{
			{Statement: aws.String(`INSERT INTO "views" VALUE {'pk': 'C', 'sk': '1'}`)},
			{Statement: aws.String(`INSERT INTO "views" VALUE {'pk': 'A', 'sk': '1'}`)}, // which exists
			{Statement: aws.String(`INSERT INTO "views" VALUE {'pk': 'D', 'sk': ?}`), Parameters: []types.AttributeValue{text("1")}},
		},
	})
	if err != nil || len(batch.ConsumedCapacity) == 0 || batch.ConsumedCapacity[0].Table != nil {
		t.Errorf("got %+v, %v", batch, err)
	}
	if _, err := client.ExecuteTransaction(t.Context(), &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{
		{Statement: aws.String(`UPDATE "views" SET n = 2 WHERE pk = 'C' AND sk = '1'`)},
		{Statement: aws.String(`INSERT INTO "views" VALUE {'pk': 'E', 'sk': '1'}`)},
	}}); err != nil {
		t.Fatal(err)
	}

	report := recorder.Report()
	views := resource(t, report, "views")
	if got, want := unitsOf(&views.Writes), map[string]float64{"A": 2 + 1 + 1 + 1, "C": 1 + 2, "D": 1, "E": 2}; !within(got, want, 0.01) {
		t.Errorf("written: got %v, want %v", got, want)
	}
	if got, want := unitsOf(&views.Reads), map[string]float64{"A": 0.5, "B": 0.5}; !within(got, want, 0.01) {
		t.Errorf("read: got %v, want %v", got, want)
	}
	if views.Reads.Units < 1.5 || views.Reads.Requests != 3 {
		t.Errorf("%v units of %d reads: that of no single key is missing", views.Reads.Units, views.Reads.Requests)
	}
	if notes := strings.Join(report.Notes, "; "); !strings.Contains(notes, "1 statement of PartiQL did not name one partition key") {
		t.Errorf("got notes %q", notes)
	}
}

func unitsOf(f *heat.Flow) map[string]float64 {
	all := make(map[string]float64)
	for _, k := range f.Keys {
		all[k.Key] = k.Units
	}
	return all
}

// within reports whether each key has the units that are wanted.
func within(got, want map[string]float64, some float64) bool {
	if len(got) != len(want) {
		return false
	}
	for key, units := range want {
		if got[key] < units-some || got[key] > units+some {
			return false
		}
	}
	return true
}

// A key that statements make hot is found, by what was refused too.
func TestStatementsMakeKeysHot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{})
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		for i := range 3000 {
			if i%2 == 0 {
				_, _ = client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{
					Statement:  aws.String(`INSERT INTO "views" VALUE {'pk': 'PAGE#viral', 'sk': ?}`),
					Parameters: []types.AttributeValue{text(fmt.Sprint(i))},
				})
			} else {
				_, _ = client.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
					{Statement: aws.String(`INSERT INTO "views" VALUE {'pk': 'PAGE#viral', 'sk': ?}`), Parameters: []types.AttributeValue{text(fmt.Sprint(i))}},
				}})
			}
			time.Sleep(time.Second / 1500)
		}
		writes := resource(t, recorder.Report(), "views").Writes
		if len(writes.Keys) != 1 || writes.Keys[0].Throttled < 300 || writes.Throttled != writes.Keys[0].Throttled || writes.Units < 1800 {
			t.Errorf("got %+v", writes.Keys)
		}
		findings := heat.Explain(recorder.Report(), heat.Rules{})
		if len(findings) == 0 || findings[0].Key != "PAGE#viral" || findings[0].Severity != heat.Critical {
			t.Errorf("got %v", findings)
		}
	})
}
