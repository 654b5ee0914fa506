package engine

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// This file is the engine's vocabulary: a request and an answer for each
// operation, field by field as in DynamoDB's API. Pointers tell absent from
// zero where the two differ.

// Request is what every request has in common.
type Request struct {
	// BadValue is the first fault found in the request's attribute values. It
	// is not answered at once: faults of other parameters come first.
	BadValue error

	// BadValueLast says that faults of expressions come before BadValue as well.
	BadValueLast bool

	// Unsupported names the first parameter present that this engine knows of
	// but does not implement.
	Unsupported string
}

// Expressions are a request's expressions and what they refer to. Operations
// use those they have.
type Expressions struct {
	Condition    *string // ConditionExpression
	Filter       *string // FilterExpression
	KeyCondition *string // KeyConditionExpression
	Projection   *string // ProjectionExpression
	Update       *string // UpdateExpression
	Names        map[string]string
	Values       attr.Item
	HasNames     bool
	HasValues    bool

	Legacy *Legacy // nil: none of them
}

// Legacy are the parameters that expressions replaced. Operations use those they
// have. A nil list is a parameter that is absent.
type Legacy struct {
	AttributesToGet     []string
	AttributeUpdates    []AttributeUpdate
	Expected            []AttributeCondition
	KeyConditions       []AttributeCondition
	QueryFilter         []AttributeCondition
	ScanFilter          []AttributeCondition
	ConditionalOperator *string
}

// AttributeCondition is an entry of Expected, KeyConditions, QueryFilter or
// ScanFilter. Exists and Value are of Expected alone.
type AttributeCondition struct {
	Name       string
	Comparison *string      // ComparisonOperator
	Values     []attr.Value // AttributeValueList
	HasValues  bool
	Value      *attr.Value
	Exists     *bool
}

// AttributeUpdate is an entry of AttributeUpdates.
type AttributeUpdate struct {
	Name   string
	Action *string // nil: PUT
	Value  *attr.Value
}

// Returns are the parameters that say what an answer should hold besides.
type Returns struct {
	ReturnValues          string
	OnConditionFailure    string // ReturnValuesOnConditionCheckFailure
	ConsumedCapacity      string // ReturnConsumedCapacity
	ItemCollectionMetrics string // ReturnItemCollectionMetrics
}

// PutItemInput is the request of PutItem.
type PutItemInput struct {
	Request
	TableName *string
	Item      attr.Item
	HasItem   bool
	Expressions
	Returns
}

// UpdateItemInput is the request of UpdateItem.
type UpdateItemInput struct {
	Request
	TableName *string
	Key       attr.Item
	HasKey    bool
	Expressions
	Returns
}

// DeleteItemInput is the request of DeleteItem.
type DeleteItemInput struct {
	Request
	TableName *string
	Key       attr.Item
	HasKey    bool
	Expressions
	Returns
}

// WriteOutput is the answer of PutItem, UpdateItem and DeleteItem.
type WriteOutput struct {
	Attributes            attr.Raw // nil: none
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// GetItemInput is the request of GetItem.
type GetItemInput struct {
	Request
	TableName        *string
	Key              attr.Item
	HasKey           bool
	ConsistentRead   bool
	ConsumedCapacity string
	Expressions
}

// GetItemOutput is the answer of GetItem; Item is nil if there is none.
type GetItemOutput struct {
	Item             attr.Raw
	ConsumedCapacity *ConsumedCapacity
}

// ReadInput is the request of Query and of Scan.
type ReadInput struct {
	Request
	TableName         *string
	IndexName         *string
	Select            string
	Limit             *int64
	ConsistentRead    bool
	ScanIndexForward  *bool // Query
	ExclusiveStartKey attr.Item
	HasStartKey       bool
	BadStart          error  // the first fault among its values, and among those of KeyConditions:
	BadKey            error  // other parameters' come in between
	Segment           *int64 // Scan
	TotalSegments     *int64 // Scan
	ConsumedCapacity  string
	Expressions
}

// ReadOutput is the answer of Query and Scan.
type ReadOutput struct {
	Items            []attr.Raw // none with CountOnly
	CountOnly        bool
	Count            int
	ScannedCount     int
	LastEvaluatedKey attr.Item // nil: the end
	ConsumedCapacity *ConsumedCapacity

	page page // what Items are in
}

// BatchGetItemInput is the request of BatchGetItem.
type BatchGetItemInput struct {
	Request
	Tables           []BatchGetTable // in the order of the request
	ConsumedCapacity string

	// More is asked once before more than a megabyte is returned. If it returns
	// false, the rest is unprocessed. Nil: there is room for 16 MB.
	More func(context.Context) bool

	// Echo returns the tables as a fault shows them, in JSON. Nil: not shown.
	Echo func([]BatchGetTable) string
}

// BatchGetTable is what a BatchGetItem wants of one table; answers use it for
// what was left unprocessed.
type BatchGetTable struct {
	TableName      string
	Keys           []attr.Item
	ConsistentRead bool
	Expressions
}

// BatchGetItemOutput is the answer of BatchGetItem.
type BatchGetItemOutput struct {
	Responses        []BatchGetResponse
	Unprocessed      []BatchGetTable
	ConsumedCapacity []*ConsumedCapacity
}

// BatchGetResponse holds one table's items, in no particular order.
type BatchGetResponse struct {
	TableName string
	Items     []attr.Raw
}

// BatchWriteItemInput is the request of BatchWriteItem.
type BatchWriteItemInput struct {
	Request
	Tables []BatchWriteTable
	Returns
}

// BatchWriteTable is what a BatchWriteItem does to one table.
type BatchWriteTable struct {
	TableName string
	Writes    []BatchWrite
}

// BatchWrite is one put (Item) or delete (Key) of a batch.
type BatchWrite struct {
	Item   attr.Item
	Key    attr.Item
	Put    bool // PutRequest is present
	Delete bool // DeleteRequest is present
	NoItem bool // PutRequest has no Item
	NoKey  bool // DeleteRequest has no Key
}

// BatchWriteItemOutput is the answer of BatchWriteItem.
type BatchWriteItemOutput struct {
	Unprocessed           []BatchWriteTable
	ItemCollectionMetrics map[string][]*ItemCollectionMetrics
	ConsumedCapacity      []*ConsumedCapacity
}

// TransactWriteItemsInput is the request of TransactWriteItems.
type TransactWriteItemsInput struct {
	Request
	Actions            []TransactWrite
	HasActions         bool
	ClientRequestToken *string
	Returns
}

// TransactWrite is one action of a TransactWriteItems. Exactly one of the four
// should be present.
type TransactWrite struct {
	Put            *PutItemInput
	Update         *UpdateItemInput
	Delete         *DeleteItemInput
	ConditionCheck *DeleteItemInput // same parameters as a delete
}

// TransactWriteItemsOutput is the answer of TransactWriteItems.
type TransactWriteItemsOutput struct {
	ItemCollectionMetrics map[string][]*ItemCollectionMetrics
	ConsumedCapacity      []*ConsumedCapacity
}

// TransactGetItemsInput is the request of TransactGetItems.
type TransactGetItemsInput struct {
	Request
	Gets             []*GetItemInput // nil element: an action without a Get
	HasGets          bool
	ConsumedCapacity string
}

// TransactGetItemsOutput is the answer of TransactGetItems: an item, or nil, for
// each get in order.
type TransactGetItemsOutput struct {
	Items            []attr.Raw
	ConsumedCapacity []*ConsumedCapacity
}

// StatementInput is the request of ExecuteStatement, and a statement of the other
// requests that have some.
type StatementInput struct {
	Request
	Statement          *string
	Parameters         []attr.Value
	HasParameters      bool
	ConsistentRead     bool
	Limit              *int64
	NextToken          *string
	OnConditionFailure string // ReturnValuesOnConditionCheckFailure
	ConsumedCapacity   string
}

// StatementOutput is the answer of ExecuteStatement.
type StatementOutput struct {
	Items            []attr.Raw
	NextToken        string    // empty: the end
	LastEvaluatedKey attr.Item // nil: none
	ConsumedCapacity *ConsumedCapacity
}

// StatementsInput is the request of BatchExecuteStatement and of
// ExecuteTransaction.
type StatementsInput struct {
	Request
	Statements         []StatementInput
	HasStatements      bool
	ClientRequestToken *string // ExecuteTransaction
	ConsumedCapacity   string

	// More is asked once before a batch returns more than a megabyte. If it returns
	// false, the rest is refused. Nil: there is room.
	More func(context.Context) bool
}

// BatchStatementOutput is the answer of BatchExecuteStatement.
type BatchStatementOutput struct {
	Responses        []StatementResponse
	ConsumedCapacity []*ConsumedCapacity
}

// StatementResponse is what became of one statement of a batch. It has an error
// if Code is not empty.
type StatementResponse struct {
	Code      string
	Message   string
	TableName string   // empty: the statement was refused before it ran
	Item      attr.Raw // nil: none
}

// TransactStatementsOutput is the answer of ExecuteTransaction: an item, or nil,
// for each statement that reads.
type TransactStatementsOutput struct {
	Items            []attr.Raw
	ConsumedCapacity []*ConsumedCapacity
}

// ConsumedCapacity is what a request cost, in capacity units. Read and Write are
// set by transactions alone. The arms are there when INDEXES were asked for.
type ConsumedCapacity struct {
	TableName string
	Units     float64
	Read      *float64
	Write     *float64
	Arms      bool // whether Table, Local and Global are to be shown
	Table     Capacity
	Local     map[string]Capacity
	Global    map[string]Capacity
}

// Capacity is one arm's share of a ConsumedCapacity.
type Capacity struct {
	Units float64
	Read  *float64
	Write *float64
}

// ItemCollectionMetrics tells how large the item collection just written to is.
type ItemCollectionMetrics struct {
	Key     attr.Item
	LowerGB float64
	UpperGB float64
}

// KeyElement is an element of a key schema.
type KeyElement struct {
	AttributeName string
	KeyType       string // HASH or RANGE
}

// AttributeDefinition gives a key attribute its type.
type AttributeDefinition struct {
	AttributeName string
	AttributeType string // S, N or B
}

// Projection says which attributes an index holds.
type Projection struct {
	Type             *string // KEYS_ONLY, INCLUDE or ALL
	NonKeyAttributes []string
	HasNonKey        bool
}

// Throughput is a provisioned throughput, a warm throughput or an on-demand
// maximum, in units per second.
type Throughput struct {
	Read  *int64
	Write *int64
}

// StreamSpecification switches a table's stream.
type StreamSpecification struct {
	Enabled  *bool
	ViewType *string
}

// IndexInput describes an index to be created.
type IndexInput struct {
	IndexName             *string
	KeySchema             []KeyElement
	HasKeySchema          bool
	Projection            *Projection
	ProvisionedThroughput *Throughput // global indexes
	OnDemandThroughput    *Throughput // global indexes
	WarmThroughput        *Throughput // global indexes
}

// CreateTableInput is the request of CreateTable.
type CreateTableInput struct {
	Request
	TableName             *string
	AttributeDefinitions  []AttributeDefinition
	HasDefinitions        bool
	KeySchema             []KeyElement
	HasKeySchema          bool
	LocalIndexes          []IndexInput
	HasLocalIndexes       bool
	GlobalIndexes         []IndexInput
	HasGlobalIndexes      bool
	BillingMode           *string
	ProvisionedThroughput *Throughput
	OnDemandThroughput    *Throughput
	WarmThroughput        *Throughput
	Stream                *StreamSpecification
	TableClass            *string
	DeletionProtection    *bool
	Encryption            *Encryption
	Tags                  []Tag
}

// UpdateTableInput is the request of UpdateTable.
type UpdateTableInput struct {
	Request
	TableName             *string
	AttributeDefinitions  []AttributeDefinition
	BillingMode           *string
	ProvisionedThroughput *Throughput
	OnDemandThroughput    *Throughput
	WarmThroughput        *Throughput
	IndexUpdates          []IndexUpdate
	HasIndexUpdates       bool
	Stream                *StreamSpecification
	TableClass            *string
	DeletionProtection    *bool
	Encryption            *Encryption
}

// IndexUpdate is one element of GlobalSecondaryIndexUpdates. Exactly one of the
// three should be present.
type IndexUpdate struct {
	Create *IndexInput
	Update *IndexInput // IndexName and the throughputs
	Delete *IndexInput // IndexName
}

// TableInput is a request that names a table and nothing else: DescribeTable,
// DeleteTable, DescribeTimeToLive.
type TableInput struct {
	Request
	TableName *string
}

// Tag is a tag of a table. A request may lack either member.
type Tag struct{ Key, Value *string }

// TagResourceInput is the request of TagResource.
type TagResourceInput struct {
	Request
	ResourceARN *string
	Tags        []Tag
	HasTags     bool
}

// UntagResourceInput is the request of UntagResource.
type UntagResourceInput struct {
	Request
	ResourceARN *string
	Keys        []string // TagKeys
	HasKeys     bool
}

// ListTagsInput is the request of ListTagsOfResource, whose NextToken is read and ignored, as on the service.
type ListTagsInput struct {
	Request
	ResourceARN *string
}

// ListTablesInput is the request of ListTables.
type ListTablesInput struct {
	Request
	ExclusiveStart *string
	Limit          *int64
}

// ListTablesOutput is the answer of ListTables.
type ListTablesOutput struct {
	TableNames    []string
	LastEvaluated string // empty: the end
}

// TableDescription describes a table, as CreateTable, DescribeTable, UpdateTable
// and DeleteTable answer it.
type TableDescription struct {
	TableName            string
	TableID              string // a UUID
	ARN                  string
	Status               string
	Created              time.Time
	AttributeDefinitions []AttributeDefinition
	KeySchema            []KeyElement
	ItemCount            int64
	SizeBytes            int64
	Provisioned          ThroughputDescription
	BillingMode          string    // empty: PROVISIONED that was never anything else
	BillingModeChanged   time.Time // last change to PAY_PER_REQUEST
	OnDemand             *Throughput
	Warm                 WarmThroughput
	LocalIndexes         []IndexDescription
	GlobalIndexes        []IndexDescription
	StreamViewType       string // empty: no stream
	LatestStreamARN      string
	LatestStreamLabel    string
	TableClass           string
	TableClassChanged    time.Time
	DeletionProtection   bool
	SSEEnabled           bool            // encrypted with a key of KMS
	SSEKey               string          `json:",omitempty"` // that key's ARN
	SSEChanging          bool            `json:"-"`          // shows as being encrypted anew
	Restore              *RestoreSummary `json:",omitempty"` // of a table that is being restored; nil: of no other
}

// ThroughputDescription is a provisioned throughput as it is described.
type ThroughputDescription struct {
	Read, Write    int64
	DecreasesToday int64
	LastIncrease   time.Time
	LastDecrease   time.Time
}

// WarmThroughput is what a table or index can take at once.
type WarmThroughput struct {
	Read, Write int64
	Status      string
}

// IndexDescription describes an index.
type IndexDescription struct {
	IndexName      string
	ARN            string
	Status         string // global indexes
	Backfilling    *bool  `json:",omitempty"` // of a global index that is added to a table; nil: of no other
	KeySchema      []KeyElement
	ProjectionType string
	NonKey         []string
	ItemCount      int64
	SizeBytes      int64
	Provisioned    ThroughputDescription // global indexes
	OnDemand       *Throughput           // global indexes
	Warm           WarmThroughput        // global indexes
}

// UpdateTimeToLiveInput is the request of UpdateTimeToLive.
type UpdateTimeToLiveInput struct {
	Request
	TableName     *string
	Enabled       *bool
	AttributeName *string
	HasSpec       bool
}

// TimeToLive is a table's TTL: the answer of UpdateTimeToLive (Enabled and
// AttributeName) and of DescribeTimeToLive (Status and AttributeName).
type TimeToLive struct {
	Enabled       bool
	Status        string
	AttributeName string
}

// Limits is the answer of DescribeLimits.
type Limits struct {
	AccountRead, AccountWrite int64
	TableRead, TableWrite     int64
}

// ListStreamsInput is the request of ListStreams.
type ListStreamsInput struct {
	Request
	TableName      *string
	ExclusiveStart *string
	Limit          *int64
}

// ListStreamsOutput is the answer of ListStreams.
type ListStreamsOutput struct {
	Streams       []StreamSummary
	LastEvaluated string // empty: the end
}

// StreamSummary names a stream.
type StreamSummary struct {
	ARN       string
	TableName string
	Label     string
}

// DescribeStreamInput is the request of DescribeStream.
type DescribeStreamInput struct {
	Request
	StreamARN           *string
	Limit               *int64
	ExclusiveStartShard *string
	HasFilter           bool    // ShardFilter
	FilterType          *string // CHILD_SHARDS
	FilterShard         *string
}

// StreamDescription is the answer of DescribeStream.
type StreamDescription struct {
	StreamSummary
	Status             string
	ViewType           string
	Created            time.Time
	KeySchema          []KeyElement
	Shards             []Shard
	LastEvaluatedShard string // empty: the end
}

// Shard is one shard of a stream; EndingSequence is empty while it is open.
type Shard struct {
	ShardID          string
	ParentShardID    string
	StartingSequence string
	EndingSequence   string
}

// GetShardIteratorInput is the request of GetShardIterator.
type GetShardIteratorInput struct {
	Request
	StreamARN      *string
	ShardID        *string
	Type           *string
	SequenceNumber *string
	Timestamp      *time.Time
}

// GetRecordsInput is the request of GetRecords.
type GetRecordsInput struct {
	Request
	ShardIterator *string
	Limit         *int64
}

// GetRecordsOutput is the answer of GetRecords.
type GetRecordsOutput struct {
	Records      []StreamRecord
	NextIterator string // empty: the shard is closed and read
}

// StreamRecord is one change of one item.
type StreamRecord struct {
	EventID   string
	EventName string // INSERT, MODIFY or REMOVE
	Created   time.Time
	Keys      attr.Raw
	NewImage  attr.Raw // nil: not in this view
	OldImage  attr.Raw // nil: not in this view
	Sequence  string
	SizeBytes int64
	ViewType  string
	Expired   bool // deleted by TTL: the identity is the service's
}
