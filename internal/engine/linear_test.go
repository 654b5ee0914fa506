package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// bankInput is an operation on accounts, bankOutput what it answered.
type bankInput struct {
	kind      string // read, read all, set, deposit, compare and set, transfer
	account   int
	to        int // of a transfer
	amount    int64
	whatIsNow int64 // of a compare and set
}

type bankOutput struct {
	conflict bool // turned away, or its context ended while it waited: without effect
	refused  bool // a condition did not hold
	balances []int64
}

const linearAccounts = 3

// bankModel is the bank if one operation came after the other.
func bankModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return [linearAccounts]int64{} },
		Step: func(state, input, output any) (bool, any) {
			return stepBank(state.([linearAccounts]int64), input.(bankInput), output.(bankOutput))
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}

func stepBank(b [linearAccounts]int64, in bankInput, out bankOutput) (bool, [linearAccounts]int64) {
	if out.conflict {
		return true, b
	}
	before := b[in.account]
	switch in.kind {
	case "read":
		return out.balances[0] == before, b
	case "read all":
		return [linearAccounts]int64(out.balances) == b, b
	case "set":
		b[in.account] = in.amount
		return out.balances[0] == before, b
	case "deposit":
		if before+in.amount < 0 {
			return out.refused, b
		}
		b[in.account] += in.amount
		return !out.refused && out.balances[0] == b[in.account], b
	case "compare and set":
		if before != in.whatIsNow {
			return out.refused, b
		}
		b[in.account] = in.amount
		return !out.refused, b
	default: // transfer
		if before < in.amount {
			return out.refused, b
		}
		b[in.account] -= in.amount
		b[in.to] += in.amount
		return !out.refused, b
	}
}

func drawBankInput(r *rand.Rand) bankInput {
	in := bankInput{
		kind:    []string{"read", "read all", "set", "deposit", "compare and set", "transfer"}[r.IntN(6)],
		account: r.IntN(linearAccounts), amount: r.Int64N(5), whatIsNow: r.Int64N(5),
	}
	in.to = (in.account + 1) % linearAccounts
	if in.kind == "deposit" {
		in.amount -= 2
	}
	return in
}

// do runs an operation on the engine.
func (b bank) do(ctx context.Context, in bankInput) (bankOutput, error) {
	key := fields("id", accountID(in.account))
	var out bankOutput
	var err error
	balance := func(i interface{ Int64() (int64, bool) }) {
		n, _ := i.Int64()
		out.balances = append(out.balances, n)
	}
	switch in.kind {
	case "read":
		var got *GetItemOutput
		if got, err = b.GetItem(ctx, &GetItemInput{TableName: &accounts, Key: key, HasKey: true, ConsistentRead: true}); err == nil {
			balance(got.Item.Get("balance").Number())
		}
	case "read all":
		out.balances, err = b.balances(linearAccounts)
	case "set":
		var got *WriteOutput
		if got, err = b.PutItem(ctx, &PutItemInput{
			TableName: &accounts, Item: key.With("balance", fields("n", int(in.amount)).Get("n")), HasItem: true, Returns: Returns{ReturnValues: "ALL_OLD"},
		}); err == nil {
			balance(got.Attributes.Get("balance").Number())
		}
	case "deposit":
		update := deposit(in.account, int(in.amount))
		update.ReturnValues = "UPDATED_NEW"
		var got *WriteOutput
		if got, err = b.UpdateItem(ctx, update); err == nil {
			balance(got.Attributes.Get("balance").Number())
		}
	case "compare and set":
		_, err = b.UpdateItem(ctx, &UpdateItemInput{
			TableName: &accounts, Key: key, HasKey: true,
			Expressions: Expressions{
				Update: new("SET balance = :new"), Condition: new("balance = :old"),
				Values: fields(":new", int(in.amount), ":old", int(in.whatIsNow)), HasValues: true,
			},
		})
	default:
		_, err = b.TransactWriteItems(ctx, transaction(deposit(in.account, -int(in.amount)), deposit(in.to, int(in.amount))))
	}
	out.conflict, out.refused = conflicted(err) || errors.Is(err, context.Canceled), refused(err)
	if out.conflict || out.refused {
		err = nil
	}
	return out, err
}

// Whatever runs at once, there is an order of the operations, each within the time it took, in which one after the other
// would have answered the same: reads, conditional writes and transactions are linearizable.
func TestLinearizable(t *testing.T) {
	for seed := range uint64(200) {
		b := openBank(t, Options{}, make([]int, linearAccounts)...)
		operations := runClients(t, b, seed, 4, 15)
		if result := porcupine.CheckOperationsTimeout(bankModel(), operations, time.Minute); result != porcupine.Ok {
			t.Fatalf("seed %d: %s: %v", seed, result, operations)
		}
	}
}

// runClients lets clients run operations at once and returns their history.
func runClients(t *testing.T, b bank, seed uint64, clients, each int) []porcupine.Operation {
	t.Helper()
	began := time.Now()
	histories := make([][]porcupine.Operation, clients)
	var all sync.WaitGroup
	for id := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(id)))
			for range each {
				op := porcupine.Operation{ClientId: id, Input: drawBankInput(random), Call: int64(time.Since(began))}
				ctx, cancel := context.WithCancel(context.Background())
				var cancelled sync.WaitGroup
				if random.IntN(4) == 0 { // somewhere on the way
					cancelled.Go(cancel)
				}
				out, err := b.do(ctx, op.Input.(bankInput))
				cancelled.Wait()
				cancel()
				if err != nil {
					t.Errorf("%+v: %v", op.Input, err)
					return
				}
				op.Output, op.Return = out, int64(time.Since(began))
				histories[id] = append(histories[id], op)
			}
		})
	}
	all.Wait()
	var operations []porcupine.Operation
	for _, h := range histories {
		operations = append(operations, h...)
	}
	return operations
}

// The check is worth something: a bank that forgets a deposit, or shows it too late, is found out.
func TestLinearizableFindsFaults(t *testing.T) {
	deposit := porcupine.Operation{ClientId: 0, Input: bankInput{kind: "deposit", amount: 2}, Output: bankOutput{balances: []int64{2}}, Call: 1, Return: 2}
	stale := porcupine.Operation{ClientId: 1, Input: bankInput{kind: "read"}, Output: bankOutput{balances: []int64{0}}, Call: 3, Return: 4}
	if porcupine.CheckOperations(bankModel(), []porcupine.Operation{deposit, stale}) {
		t.Error("a read that began after a deposit and does not show it passes")
	}
	stale.Call = 1
	if !porcupine.CheckOperations(bankModel(), []porcupine.Operation{deposit, stale}) {
		t.Error("a read at the same time as a deposit need not show it")
	}
}
