package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// statements is a request of PartiQL statements.
func statements(texts ...string) *StatementsInput {
	in := &StatementsInput{HasStatements: true}
	for _, text := range texts {
		in.Statements = append(in.Statements, StatementInput{Statement: &text})
	}
	return in
}

// meets are the operations that want an item that a transaction holds: account 1.
// Each returns the code that it is turned away with, empty if it is not.
var meets = map[string]func(context.Context, bank) (string, error){
	"PutItem": func(ctx context.Context, b bank) (string, error) {
		_, err := b.PutItem(ctx, &PutItemInput{TableName: &accounts, Item: fields("id", accountID(1)), HasItem: true})
		return conflictCode(err)
	},
	"UpdateItem": func(ctx context.Context, b bank) (string, error) {
		_, err := b.UpdateItem(ctx, deposit(1, 1))
		return conflictCode(err)
	},
	"DeleteItem": func(ctx context.Context, b bank) (string, error) {
		_, err := b.DeleteItem(ctx, &DeleteItemInput{TableName: &accounts, Key: fields("id", accountID(1)), HasKey: true})
		return conflictCode(err)
	},
	"TransactWriteItems": func(ctx context.Context, b bank) (string, error) {
		_, err := b.TransactWriteItems(ctx, transaction(deposit(2, 1), deposit(1, 1)))
		return conflictCode(err)
	},
	"TransactGetItems": func(_ context.Context, b bank) (string, error) {
		_, err := b.balances(3)
		return conflictCode(err)
	},
	"ExecuteStatement": func(ctx context.Context, b bank) (string, error) {
		_, err := b.ExecuteStatement(ctx, &statements("UPDATE accounts SET balance = 0 WHERE id = 'account 1'").Statements[0])
		return conflictCode(err)
	},
	"ExecuteTransaction": func(ctx context.Context, b bank) (string, error) {
		_, err := b.ExecuteTransaction(ctx, statements("UPDATE accounts SET balance = 0 WHERE id = 'account 2'", "DELETE FROM accounts WHERE id = 'account 1'"))
		return conflictCode(err)
	},
	"ExecuteTransaction that reads": func(ctx context.Context, b bank) (string, error) {
		_, err := b.ExecuteTransaction(ctx, statements("SELECT * FROM accounts WHERE id = 'account 2'", "SELECT * FROM accounts WHERE id = 'account 1'"))
		return conflictCode(err)
	},
	"BatchExecuteStatement": func(ctx context.Context, b bank) (string, error) {
		out, err := b.BatchExecuteStatement(ctx, statements("UPDATE accounts SET balance = 0 WHERE id = 'account 1'"))
		if err != nil {
			return "", err
		}
		return out.Responses[0].Code, nil
	},
	"BatchWriteItem": func(ctx context.Context, b bank) (string, error) {
		out, err := b.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{{
			TableName: accounts, Writes: []BatchWrite{{Item: fields("id", accountID(1)), Put: true}},
		}}})
		if err != nil || len(out.Unprocessed) == 0 {
			return "", err
		}
		return "UnprocessedItems", nil
	},
	"GetItem": func(ctx context.Context, b bank) (string, error) {
		_, err := b.GetItem(ctx, &GetItemInput{TableName: &accounts, Key: fields("id", accountID(1)), HasKey: true, ConsistentRead: true})
		return conflictCode(err)
	},
	"Scan": func(ctx context.Context, b bank) (string, error) {
		_, err := b.Scan(ctx, &ReadInput{TableName: &accounts})
		return conflictCode(err)
	},
}

// conflictCode returns how an error says that a transaction holds an item.
func conflictCode(err error) (string, error) {
	var answer *Error
	switch {
	case !errors.As(err, &answer):
		return "", err
	case answer.Type == TypeTransactionCanceled:
		codes := make([]string, len(answer.Reasons))
		for i, r := range answer.Reasons {
			codes[i] = r.Code
		}
		if i := slices.Index(codes, "TransactionConflict"); i >= 0 {
			return "TransactionCanceled with TransactionConflict", nil
		}
		return "", err
	default:
		return answer.Type, nil
	}
}

// While a transaction is under way, whoever wants to write one of its items is
// turned away, and so is who wants to read it in a transaction. Other reads see
// what was there before. When it is over, all of them go through.
func TestTransactionsTurnOthersAway(t *testing.T) {
	const conflict, canceled = TypeTransactionConflict, "TransactionCanceled with TransactionConflict"
	want := map[string]string{
		"PutItem": conflict, "UpdateItem": conflict, "DeleteItem": conflict, "ExecuteStatement": conflict,
		"TransactWriteItems": canceled, "TransactGetItems": canceled, "ExecuteTransaction": canceled, "ExecuteTransaction that reads": canceled,
		"BatchExecuteStatement": "TransactionConflict", "BatchWriteItem": "UnprocessedItems",
		"GetItem": "", "Scan": "",
	}
	for name, meet := range meets {
		t.Run(name, func(t *testing.T) {
			var armed atomic.Bool
			held, over := make(chan struct{}), make(chan struct{})
			b := openBank(t, Options{reached: func(s stage) {
				if s == decided && armed.CompareAndSwap(true, false) {
					close(held)
					<-over
				}
			}}, 10, 20, 30)
			armed.Store(true)
			var under sync.WaitGroup
			under.Go(func() {
				if _, err := b.TransactWriteItems(t.Context(), transaction(deposit(0, -5), deposit(1, 5))); err != nil {
					t.Error(err)
				}
			})
			<-held
			got, err := meet(t.Context(), b)
			if err != nil || got != want[name] {
				t.Errorf("got %q, %v while a transaction is under way, want %q", got, err, want[name])
			}
			if got := b.balance(t, 1); got != 20 {
				t.Errorf("got a balance of %d while the transaction is under way, want 20", got)
			}
			close(over)
			under.Wait()
			if got := b.balance(t, 1); got != 25 {
				t.Errorf("got a balance of %d after the transaction, want 25", got)
			}
			if got, err := meet(t.Context(), b); err != nil || got != "" {
				t.Errorf("got %q, %v after the transaction, want that it goes through", got, err)
			}
		})
	}
}
