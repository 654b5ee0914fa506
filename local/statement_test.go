package local_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/local"
)

// The SDK sends statements with all their parameters, and understands the answers.
func TestStatementsThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client(noRetry)
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S", "at N")))
	say := func(statement string, params ...types.AttributeValue) (*dynamodb.ExecuteStatementOutput, error) {
		return client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: &statement, Parameters: params,
			ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
	}
	for i := range 5 {
		must[*dynamodb.ExecuteStatementOutput](t)(say(`INSERT INTO "things" VALUE {'id': ?, 'at': ?, 'even': ?}`,
			text("a"), whole(i), &types.AttributeValueMemberBOOL{Value: i%2 == 0}))
	}
	there := item{"id": text("a"), "at": whole(0), "even": &types.AttributeValueMemberBOOL{Value: true}}

	_, err := say(`INSERT INTO "things" VALUE {'id': 'a', 'at': 0}`)
	var duplicate *types.DuplicateItemException
	if !errors.As(err, &duplicate) || duplicate.ErrorMessage() != "Duplicate primary key exists in table" {
		t.Errorf("got %v, want a DuplicateItemException", err)
	}
	_, err = say(`UPDATE "things" SET n = 1 WHERE id = 'a' AND "at" = 0 AND even = false`)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || show(failed.Item) != show(there) {
		t.Errorf("got %v with %v, want a ConditionalCheckFailedException with the item", err, failed)
	}
	out := must[*dynamodb.ExecuteStatementOutput](t)(say(`DELETE FROM "things" WHERE id = ? AND "at" = ? RETURNING ALL OLD *`, text("a"), whole(0)))
	if len(out.Items) != 1 || show(out.Items[0]) != show(there) || *out.ConsumedCapacity.CapacityUnits != 1 {
		t.Errorf("deleted %v at a cost of %v", out.Items, out.ConsumedCapacity)
	}

	// Pages, with the SDK's NextToken.
	page := &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT "at" FROM "things" WHERE id = 'a' ORDER BY "at" DESC`), Limit: aws.Int32(3)}
	var got []string
	for {
		out := must[*dynamodb.ExecuteStatementOutput](t)(client.ExecuteStatement(ctx, page))
		for _, it := range out.Items {
			got = append(got, show(it))
		}
		if page.NextToken = out.NextToken; out.NextToken == nil {
			break
		}
		if out.LastEvaluatedKey == nil {
			t.Error("a page with a NextToken has no LastEvaluatedKey")
		}
	}
	if want := []string{show(item{"at": whole(4)}), show(item{"at": whole(3)}), show(item{"at": whole(2)}), show(item{"at": whole(1)})}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The SDK decodes what became of each statement of a batch and of a transaction.
func TestManyStatementsThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client(noRetry)
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S")))
	batch := must[*dynamodb.BatchExecuteStatementOutput](t)(client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		Statements: []types.BatchStatementRequest{
			{Statement: aws.String(`INSERT INTO things VALUE {'id': ?}`), Parameters: []types.AttributeValue{text("a")}},
			{Statement: aws.String(`INSERT INTO nothing VALUE {'id': 'a'}`)},
			{Statement: aws.String(`UPDATE things SET n = 1 WHERE id = 'none'`)},
			{Statement: aws.String(`DELETE things`)},
			{Statement: aws.String(`DELETE FROM things WHERE id = ''`)},
		},
	}))
	var codes []string
	for _, r := range batch.Responses {
		code := types.BatchStatementErrorCodeEnum("")
		if r.Error != nil {
			code = r.Error.Code
		}
		codes = append(codes, fmt.Sprintf("%s %s", code, aws.ToString(r.TableName)))
	}
	if got, want := strings.Join(codes, ", "), " things, ResourceNotFound nothing, ConditionalCheckFailed things, ValidationError , ValidationError things"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(batch.ConsumedCapacity) != 1 || *batch.ConsumedCapacity[0].CapacityUnits != 2 {
		t.Errorf("the batch cost %v, want 2 units", batch.ConsumedCapacity)
	}

	transact := func(statements ...string) (*dynamodb.ExecuteTransactionOutput, error) {
		in := &dynamodb.ExecuteTransactionInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		for _, s := range statements {
			in.TransactStatements = append(in.TransactStatements, types.ParameterizedStatement{
				Statement: &s, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			})
		}
		return client.ExecuteTransaction(ctx, in)
	}
	_, err := transact(`INSERT INTO things VALUE {'id': 'a'}`, `INSERT INTO things VALUE {'id': 'b'}`, `DELETE FROM things WHERE id = 'c'`)
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || len(canceled.CancellationReasons) != 3 || *canceled.CancellationReasons[0].Code != "DuplicateItem" {
		t.Fatalf("got %v, want a TransactionCanceledException with three reasons", err)
	}
	_, err = transact(`UPDATE things SET n = 1 WHERE id = 'a' AND n = 7`)
	if !errors.As(err, &canceled) || show(canceled.CancellationReasons[0].Item) != show(key("a")) {
		t.Errorf("got %v, want a TransactionCanceledException with the item", err)
	}
	must[*dynamodb.ExecuteTransactionOutput](t)(transact(`UPDATE things SET n = 2 WHERE id = 'a'`, `EXISTS(SELECT * FROM things WHERE id = 'b' AND n IS MISSING)`))
	out := must[*dynamodb.ExecuteTransactionOutput](t)(transact(`SELECT n FROM things WHERE id = 'a'`, `SELECT * FROM things WHERE id = 'b'`))
	if len(out.Responses) != 2 || show(out.Responses[0].Item) != show(item{"n": whole(2)}) || out.Responses[1].Item != nil || *out.ConsumedCapacity[0].CapacityUnits != 4 {
		t.Errorf("read %+v at a cost of %v", out.Responses, out.ConsumedCapacity)
	}
}

// Any value goes through a statement unchanged, as a parameter.
func TestParametersRoundTripThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client(noRetry)
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S")))
	i := 0
	rapid.Check(t, func(rt *rapid.T) {
		i++
		id, v := text(fmt.Sprint(i)), values(3).Draw(rt, "value")
		if _, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`INSERT INTO things VALUE {'id': ?, 'v': ?}`), Parameters: []types.AttributeValue{id, v},
		}); err != nil {
			rt.Fatal(err)
		}
		out, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`SELECT v FROM things WHERE id = ? AND v = ?`), Parameters: []types.AttributeValue{id, v},
		})
		if err != nil {
			rt.Fatal(err)
		}
		if len(out.Items) != 1 {
			rt.Fatalf("%s is not equal to itself", show(item{"v": v}))
		}
		stored, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("things"), Key: item{"id": id}})
		if err != nil || show(item{"v": stored.Item["v"]}) != show(out.Items[0]) {
			rt.Fatalf("got %s and %s, %v", show(stored.Item), show(out.Items[0]), err)
		}
	})
}
