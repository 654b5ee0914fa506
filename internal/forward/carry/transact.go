package carry

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// Transactor is the part of the SDK's client that transactions take in addition to Client.
type Transactor interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Action is one action of a transaction: of the user on an id that may move, or on any other item.
type Action struct {
	At    Place
	User  *express.User // from express.Table.Part
	First forward.First
	// Saw is told where the id is when the transaction is done. It may be nil.
	Saw func(forward.Sight)
	// Other is sent as it is if User is nil. It must not be about an item that may move.
	Other types.TransactWriteItem
}

const (
	// maxActions is how many actions a transaction of DynamoDB has at most.
	maxActions = 100
	// maxRounds bounds how often a transaction is sent anew because its items have moved, or were created and deleted meanwhile. A move
	// takes three rounds at most.
	maxRounds = 16
	// maxPreparing is how many ids of a transaction are prepared at a time.
	maxPreparing = 16
	// tokenTerm is how long an answer shows that a transaction happened once: DynamoDB remembers its token for ten minutes.
	tokenTerm = 9 * time.Minute
)

// The codes of cancellation reasons that are decided here.
const (
	codeNone     = "None"
	codeFailed   = "ConditionalCheckFailed"
	codeConflict = "TransactionConflict"
)

// Transact does all actions or none. It brings each id to the point where only the user's action is missing, by single requests, and then
// sends one transaction. If that meets an id that has moved on, the transaction begins another round.
//
// While nothing moves it is one request, or two if it has to do nothing to an absent item: a Delete, or an Update that only removes.
// DynamoDB calls that a success. Then the transaction is sent again with the condition that there still is no item.
//
// A transaction that DynamoDB would have cancelled is a TransactionCanceledException, with reasons in the order of the actions, and items
// without marks under their stored keys. It is one with conflicts, too, if items were created and deleted all the time. The error wraps
// ErrStale as that of Operate does. A transaction that was sent is repeated with the token that it was sent with. If its answer is lost, and
// no later one shows that it is done, the error is a LostError.
func (c *Carrier) Transact(ctx context.Context, actions []Action) error {
	client, ok := c.Client.(Transactor)
	if !ok {
		return fmt.Errorf("transaction: the client is a %T, which has no TransactWriteItems: give one that has, such as *dynamodb.Client", c.Client)
	}
	t, err := newTransaction(c, client, actions)
	if err != nil {
		return err
	}
	for range maxRounds {
		if err := t.prepare(ctx); err != nil {
			return err
		}
		if t.ended() {
			break
		}
		err := t.send(ctx)
		if err == nil {
			t.tell()
			return nil
		}
		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok || len(canceled.CancellationReasons) != len(actions) || dispatch.Judge(err) != dispatch.Rejected {
			return err
		}
		stale := t.take(canceled.CancellationReasons)
		if t.ended() {
			break
		}
		if stale != nil {
			return stale
		}
	}
	return t.canceled()
}

// transaction is one on its way.
type transaction struct {
	carrier *Carrier
	client  Transactor
	members []member
	lease   lease.Lease // the one that ends first
}

// member is an action on its way.
type member struct {
	Action
	asked   *express.User // User, or a check that there is no item
	machine forward.Operation[express.Item]
	request express.Request // the user's, which is part of the transaction
	again   bool            // the last round was not enough for it
	creates bool            // the id was nowhere
	// reason is why DynamoDB would cancel the transaction, if it has a code.
	reason types.CancellationReason
}

func newTransaction(c *Carrier, client Transactor, actions []Action) (*transaction, error) {
	if err := checkActions(actions); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	t := &transaction{carrier: c, client: client, members: make([]member, len(actions))}
	leased := false
	for i, a := range actions {
		m := &t.members[i]
		m.Action = a
		if a.User == nil {
			continue
		}
		if !leased {
			t.lease, leased = a.At.Lease, true
		}
		t.lease = t.lease.Earlier(a.At.Lease)
		m.begin(a.User)
	}
	for i := range t.members {
		t.members[i].At.Lease = t.lease
	}
	return t, nil
}

// checkActions refuses what DynamoDB would refuse if it could see which actions are about one id.
func checkActions(actions []Action) error {
	if len(actions) > maxActions {
		return invalid("it has %d actions, and DynamoDB takes %d at most: send several transactions", len(actions), maxActions)
	}
	first, tables := map[string]int{}, map[express.Table]bool{}
	for i, a := range actions {
		if a.User == nil {
			continue
		}
		if a.User.Kind() == forward.Get {
			return fmt.Errorf("action %d is a read: give a write or a condition check", i)
		}
		for home, key := range []express.Item{a.At.Homes.Old, a.At.Homes.New} {
			table := a.At.Homes.In(forward.Home(home))
			tables[table] = true
			id, _ := table.Same(table.Name(), key)
			if j, ok := first[id]; ok && j != i {
				return twice(j, i)
			}
			first[id] = i
		}
	}
	if len(tables) == 0 {
		return errors.New("it has no action on an id that may move: send it without heatsink")
	}
	for i, a := range actions {
		if a.User != nil {
			continue
		}
		name, item := keyOf(a.Other)
		for table := range tables {
			id, ok := table.Same(name, item)
			if j, both := first[id]; ok && both {
				return twice(min(i, j), max(i, j))
			}
		}
	}
	return nil
}

// twice is the error for two actions on one item, as DynamoDB has it.
func twice(i, j int) error {
	return invalid("Transaction request cannot include multiple operations on one item (actions %d and %d are about one id: make them one action)", i, j)
}

// invalid is an error as DynamoDB answers it to a request that makes no sense.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// keyOf returns the table of an action, and its item or key.
func keyOf(a types.TransactWriteItem) (table string, item express.Item) {
	switch {
	case a.Put != nil:
		return aws.ToString(a.Put.TableName), a.Put.Item
	case a.Update != nil:
		return aws.ToString(a.Update.TableName), a.Update.Key
	case a.Delete != nil:
		return aws.ToString(a.Delete.TableName), a.Delete.Key
	case a.ConditionCheck != nil:
		return aws.ToString(a.ConditionCheck.TableName), a.ConditionCheck.Key
	}
	return "", nil
}

// begin begins what is asked of the id.
func (m *member) begin(u *express.User) {
	m.asked = u
	m.machine = forward.NewOperation[express.Item](u.Kind(), m.At.Phase, m.First, &none)
	m.machine.Generation = m.At.Generation
}

// take takes an answer: of a single request, or that the condition of the member's part of the transaction did not hold.
func (m *member) take(a forward.Answer[express.Item]) error {
	m.machine = m.machine.Take(a)
	switch m.machine.Outcome {
	case forward.Running:
		return nil
	case forward.Stale:
		return staleAt(m.At, a)
	case forward.Refused:
	default:
		return fmt.Errorf("transaction: %v of an id ended with outcome %d before it was committed", m.asked.Kind(), m.machine.Outcome)
	}
	refused := m.asked.Refused(a)
	switch failed, ok := errors.AsType[*types.ConditionalCheckFailedException](refused); {
	case m.asked != m.User: // there is an item by now
		m.begin(m.User)
	case refused == nil:
		m.begin(m.User.Absent())
	case ok:
		m.reason = types.CancellationReason{Code: aws.String(codeFailed), Message: failed.Message, Item: failed.Item}
	default:
		return refused
	}
	return nil
}

// prepare sends single requests until each id lacks the user's action only, or until one ends the transaction. Those of several ids are
// sent at the same time: they have one lease for all.
func (t *transaction) prepare(ctx context.Context) error {
	errs := make([]error, len(t.members))
	var all sync.WaitGroup
	slots := make(chan struct{}, maxPreparing)
	for i := range t.members {
		if t.members[i].User == nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = t.members[i].prepare(ctx, t.carrier)
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// prepare sends the single requests of one id.
func (m *member) prepare(ctx context.Context, c *Carrier) (err error) {
	r := m.machine.Next()
	for ; !users(r.Act); r = m.machine.Next() {
		answer, _, err := c.ask(ctx, m.At, r, nil, false, nil)
		if err == nil {
			m.creates = r.Creates(answer)
			err = m.take(answer)
		}
		if err != nil || m.reason.Code != nil {
			return err
		}
	}
	m.request, err = m.At.Homes.Express(r, m.asked)
	return err
}

// tell tells where the ids are when the transaction is done.
func (t *transaction) tell() {
	for i := range t.members {
		m := &t.members[i]
		if m.User == nil || m.Saw == nil {
			continue
		}
		r, done := m.machine.Next(), forward.Answer[express.Item]{Done: true}
		sight := m.machine.Take(done).Sight(r, done)
		sight.Made = sight.Made || m.creates
		m.Saw(sight)
	}
}

// send sends the transaction, again with the same token if that may help.
func (t *transaction) send(ctx context.Context) error {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(rand.Text()), ReturnConsumedCapacity: meter.Of(ctx).Wanted()}
	for i, m := range t.members {
		part, ok := m.Other, true
		if m.User != nil {
			part, ok = m.request.Part()
		}
		if !ok {
			return fmt.Errorf("transaction: action %d is no write", i)
		}
		in.TransactItems = append(in.TransactItems, part)
	}
	var lost error
	var sent time.Time // the attempt that was lost
	over := false
	_, err := t.carrier.Writes.Do(ctx, dispatch.Request{
		Send: func(ctx context.Context, _ int) error {
			began := time.Now()
			out, err := t.client.TransactWriteItems(ctx, in, dispatch.Once, t.lease.Bind)
			if lost == nil && dispatch.Judge(err) == dispatch.Unknown {
				lost, sent = err, began
			}
			if over = errors.Is(err, lease.ErrOver); err == nil {
				meter.WroteAll(ctx, out.ConsumedCapacity)
			}
			return err
		},
		Again: func(dispatch.Verdict) bool { return !over },
	})
	switch {
	case err == nil && lost != nil && time.Since(sent) > tokenTerm:
		return &LostError{fmt.Errorf("%w; the repeated transaction took so long that DynamoDB may have done it twice", lost)}
	case err == nil:
		return nil
	case over:
		err = fmt.Errorf("%w: %w", ErrStale, err)
	}
	if _, ok := errors.AsType[*types.TransactionCanceledException](err); ok && lost != nil { // the first attempt may arrive later
		return &LostError{fmt.Errorf("%w; the repeated transaction was refused: %v", lost, err)}
	}
	return lostBefore(lost, err)
}

// take takes the reasons for which the transaction was cancelled. The error says that some id has gone on to another stage of its move.
func (t *transaction) take(reasons []types.CancellationReason) (stale error) {
	for i, reason := range reasons {
		m := &t.members[i]
		m.again = false
		switch code := aws.ToString(reason.Code); {
		case code == "" || code == codeNone || code == codeConflict || code == "ThrottlingError" || code == "ProvisionedThroughputExceeded":
		case m.User != nil && code == codeFailed:
			answer, err := m.request.Reason(reason)
			if err == nil {
				m.again = true
				err = m.take(answer)
			}
			if err != nil {
				stale = err
			}
		default:
			m.reason = reason
		}
	}
	return stale
}

// ended reports whether DynamoDB would have cancelled the transaction.
func (t *transaction) ended() bool {
	for _, m := range t.members {
		if m.reason.Code != nil {
			return true
		}
	}
	return false
}

// canceled returns the error by which DynamoDB would have cancelled the transaction. Without another reason it is a conflict.
func (t *transaction) canceled() error {
	reasons, codes, ended := make([]types.CancellationReason, len(t.members)), make([]string, len(t.members)), t.ended()
	for i, m := range t.members {
		reasons[i] = m.reason
		switch {
		case m.reason.Code != nil:
		case m.again && !ended:
			reasons[i] = types.CancellationReason{Code: aws.String(codeConflict), Message: aws.String("Transaction is ongoing for the item")}
		default:
			reasons[i].Code = aws.String(codeNone)
		}
		codes[i] = *reasons[i].Code
	}
	return &types.TransactionCanceledException{
		Message:             aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"),
		CancellationReasons: reasons,
	}
}
