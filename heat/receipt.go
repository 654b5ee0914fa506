package heat

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// receipt is what the response of a call says was consumed, for a caller who did not ask for it. The client's protocol
// reads it from the response, and leaves it out of the output. The protocol finds the receipt in the context of the call.
//
// A receipt is not used again: contexts outlive their calls.
type receipt struct {
	context.Context
	input  any            // what is sent: tells the call from others that are made with its context
	member *smithy.Schema // the consumed capacity in the operation's output
	table  *string

	read  bool // the response had one
	units float64
	long  *longReceipt // nil if the units are all
}

// longReceipt is what a response says was consumed in more words, or in another spelling, than most do.
type longReceipt struct {
	receipt  *receipt
	output   smithy.Deserializable
	reader   receiptReader
	consumed types.ConsumedCapacity
	units    float64 // consumed.CapacityUnits
	table    types.Capacity
	own      float64 // table.CapacityUnits
}

// request is an input that asks for the consumed capacity, and its receipt. They are one allocation.
type request[T any] struct {
	receipt
	asking T
}

type receiptKey struct{}

// Value returns the receipt itself for its key.
func (r *receipt) Value(key any) any {
	if _, ok := key.(receiptKey); ok {
		return r
	}
	return r.Context.Value(key)
}

// receiptOf returns the receipt in a context, nil if there is none.
func receiptOf(ctx context.Context) *receipt {
	r, _ := ctx.Value(receiptKey{}).(*receipt)
	if r == nil || r.member == nil {
		return nil
	}
	return r
}

// noReceipt returns a context without the receipt that ctx has.
func noReceipt(ctx context.Context) context.Context { return &receipt{Context: ctx} }

// answer returns what a call of one item consumed, nil if nobody says so. The output has it if the protocol is not the
// recorder's, or if another middleware answers the call.
func (c *call) answer(output *types.ConsumedCapacity) *types.ConsumedCapacity {
	r := c.receipt
	switch {
	case output != nil || r == nil || !r.read:
		return output
	case r.long != nil:
		return &r.long.consumed
	}
	c.told = types.ConsumedCapacity{TableName: r.table, CapacityUnits: &r.units}
	return &c.told
}

// into returns what reads a response into the output and the receipt.
func (r *receipt) into(output smithy.Deserializable) smithy.Deserializable {
	r.long = &longReceipt{receipt: r, output: output}
	return r.long
}

// Deserialize reads an output without its consumed capacity, which goes to the receipt.
func (l *longReceipt) Deserialize(d smithy.ShapeDeserializer) error {
	l.reader = receiptReader{d, l}
	return l.output.Deserialize(&l.reader)
}

// receiptReader reads a response, and hides the consumed capacity from whom it reads for.
type receiptReader struct {
	smithy.ShapeDeserializer
	receipt *longReceipt
}

func (r *receiptReader) ReadStructMember() (*smithy.Schema, error) {
	for {
		member, err := r.ShapeDeserializer.ReadStructMember()
		if err != nil || member != r.receipt.receipt.member {
			return member, err
		}
		if err := r.receipt.take(r.ShapeDeserializer); err != nil {
			return nil, err
		}
	}
}

// The members of a ConsumedCapacity that a recorder needs. Readers skip all others: reading the table's name allocates.
var (
	consumedSchema  = smithy.NewSchema(schemas.ConsumedCapacity.ID(), schemas.ConsumedCapacity.Type(), 4)
	consumedUnits   = consumedSchema.AddMember("CapacityUnits", schemas.ConsumedCapacity_CapacityUnits)
	consumedTable   = consumedSchema.AddMember("Table", schemas.ConsumedCapacity_Table)
	consumedLocals  = consumedSchema.AddMember("LocalSecondaryIndexes", schemas.ConsumedCapacity_LocalSecondaryIndexes)
	consumedGlobals = consumedSchema.AddMember("GlobalSecondaryIndexes", schemas.ConsumedCapacity_GlobalSecondaryIndexes)
)

// take reads the consumed capacity of a response.
func (l *longReceipt) take(d smithy.ShapeDeserializer) error {
	l.receipt.read = true
	l.consumed = types.ConsumedCapacity{TableName: l.receipt.table}
	return smithy.ReadStruct(d, consumedSchema, func(member *smithy.Schema) error {
		switch member {
		case consumedUnits:
			l.consumed.CapacityUnits = &l.units
			return d.ReadFloat64(member, &l.units)
		case consumedTable:
			l.consumed.Table = &l.table
			return l.takeTable(d)
		case consumedLocals:
			return takeIndexes(d, member, &l.consumed.LocalSecondaryIndexes)
		case consumedGlobals:
			return takeIndexes(d, member, &l.consumed.GlobalSecondaryIndexes)
		}
		return nil
	})
}

func (l *longReceipt) takeTable(d smithy.ShapeDeserializer) error {
	l.table = types.Capacity{}
	return smithy.ReadStruct(d, capacitySchema, func(member *smithy.Schema) error {
		l.table.CapacityUnits = &l.own
		return d.ReadFloat64(member, &l.own)
	})
}

// capacitySchema is a Capacity with nothing but its units.
var capacitySchema = func() *smithy.Schema {
	s := smithy.NewSchema(schemas.Capacity.ID(), schemas.Capacity.Type(), 1)
	s.AddMember("CapacityUnits", schemas.Capacity_CapacityUnits)
	return s
}()

func takeIndexes(d smithy.ShapeDeserializer, member *smithy.Schema, to *map[string]types.Capacity) error {
	indexes := make(map[string]types.Capacity)
	*to = indexes
	return smithy.ReadMap(d, member, func(name string) error {
		var c types.Capacity
		if null, err := d.ReadNil(member.MapValue()); null || err != nil {
			return err
		}
		if err := c.Deserialize(d); err != nil {
			return err
		}
		indexes[name] = c
		return nil
	})
}
