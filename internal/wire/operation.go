package wire

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// operation reads a request, has it answered and writes the answer.
type operation func(context.Context, *engine.Engine, *exchange) error

const (
	dynamoDB = "DynamoDB_20120810."
	streams  = "DynamoDBStreams_20120810."
)

// operations are all there are, by the X-Amz-Target that asks for them. Each that
// is implemented has a conversation in testdata/surface.seeds, from which
// FuzzOperations starts.
var operations = map[string]operation{
	dynamoDB + "PutItem":    op((*request).putItem, (*engine.Engine).PutItem, (*answer).write),
	dynamoDB + "UpdateItem": op((*request).updateItem, (*engine.Engine).UpdateItem, (*answer).write),
	dynamoDB + "DeleteItem": op((*request).deleteItem, (*engine.Engine).DeleteItem, (*answer).write),
	dynamoDB + "GetItem":    op(inNewWords((*request).getItem), (*engine.Engine).GetItem, (*answer).getItem),
	dynamoDB + "Query":      op(inNewWords((*request).query), (*engine.Engine).Query, (*answer).read),
	dynamoDB + "Scan":       op(narrow((*request).scan), (*engine.Engine).Scan, (*answer).read),

	dynamoDB + "BatchGetItem":       op(inNewWords((*request).batchGetItem), batchGetItem, (*answer).batchGetItem),
	dynamoDB + "BatchWriteItem":     op(narrow((*request).batchWriteItem), (*engine.Engine).BatchWriteItem, (*answer).batchWriteItem),
	dynamoDB + "TransactGetItems":   op(narrow((*request).transactGetItems), (*engine.Engine).TransactGetItems, (*answer).transactGetItems),
	dynamoDB + "TransactWriteItems": op(narrow((*request).transactWriteItems), (*engine.Engine).TransactWriteItems, (*answer).transactWriteItems),

	dynamoDB + "ExecuteStatement":      op((*request).executeStatement, (*engine.Engine).ExecuteStatement, (*answer).statement),
	dynamoDB + "BatchExecuteStatement": op((*request).batchExecuteStatement, (*engine.Engine).BatchExecuteStatement, (*answer).batchStatement),
	dynamoDB + "ExecuteTransaction":    op((*request).executeTransaction, (*engine.Engine).ExecuteTransaction, (*answer).transactStatements),

	dynamoDB + "CreateTable":   op((*request).createTable, (*engine.Engine).CreateTable, (*answer).tableDescription),
	dynamoDB + "UpdateTable":   op((*request).updateTable, (*engine.Engine).UpdateTable, (*answer).tableDescription),
	dynamoDB + "DeleteTable":   op((*request).table, (*engine.Engine).DeleteTable, (*answer).tableDescription),
	dynamoDB + "DescribeTable": op((*request).table, (*engine.Engine).DescribeTable, (*answer).describeTable),
	dynamoDB + "ListTables":    op((*request).listTables, (*engine.Engine).ListTables, (*answer).listTables),

	dynamoDB + "TagResource":        silent(op((*request).tagResource, (*engine.Engine).TagResource, (*answer).nothing)),
	dynamoDB + "UntagResource":      silent(op((*request).untagResource, (*engine.Engine).UntagResource, (*answer).nothing)),
	dynamoDB + "ListTagsOfResource": op((*request).listTags, (*engine.Engine).ListTagsOfResource, (*answer).tags),

	dynamoDB + "UpdateTimeToLive":   op((*request).updateTimeToLive, (*engine.Engine).UpdateTimeToLive, (*answer).updateTimeToLive),
	dynamoDB + "DescribeTimeToLive": op((*request).table, (*engine.Engine).DescribeTimeToLive, (*answer).describeTimeToLive),

	dynamoDB + "CreateBackup":              op((*request).createBackup, (*engine.Engine).CreateBackup, (*answer).createBackup),
	dynamoDB + "DescribeBackup":            op((*request).backup, (*engine.Engine).DescribeBackup, (*answer).backup),
	dynamoDB + "DeleteBackup":              op((*request).backup, (*engine.Engine).DeleteBackup, (*answer).backup),
	dynamoDB + "ListBackups":               op((*request).listBackups, (*engine.Engine).ListBackups, (*answer).listBackups),
	dynamoDB + "RestoreTableFromBackup":    op((*request).restore, (*engine.Engine).RestoreTableFromBackup, (*answer).tableDescription),
	dynamoDB + "RestoreTableToPointInTime": op((*request).restore, (*engine.Engine).RestoreTableToPointInTime, (*answer).tableDescription),
	dynamoDB + "UpdateContinuousBackups":   op((*request).updateContinuousBackups, (*engine.Engine).UpdateContinuousBackups, (*answer).continuousBackups),
	dynamoDB + "DescribeContinuousBackups": op((*request).table, (*engine.Engine).DescribeContinuousBackups, (*answer).continuousBackups),

	dynamoDB + "ListContributorInsights":     op((*request).listInsights, (*engine.Engine).ListContributorInsights, (*answer).listInsights),
	dynamoDB + "DescribeContributorInsights": op((*request).contributorInsights, (*engine.Engine).DescribeContributorInsights, (*answer).contributorInsights),
	dynamoDB + "UpdateContributorInsights":   op((*request).contributorInsights, (*engine.Engine).UpdateContributorInsights, (*answer).contributorInsights),

	dynamoDB + "DescribeLimits":    op((*request).nothing, describeLimits, (*answer).limits),
	dynamoDB + "DescribeEndpoints": describeEndpoints,

	streams + "ListStreams":      op((*request).listStreams, (*engine.Engine).ListStreams, (*answer).listStreams),
	streams + "DescribeStream":   op((*request).describeStream, (*engine.Engine).DescribeStream, (*answer).describeStream),
	streams + "GetShardIterator": op((*request).getShardIterator, (*engine.Engine).GetShardIterator, (*answer).shardIterator),
	streams + "GetRecords":       op((*request).getRecords, (*engine.Engine).GetRecords, (*answer).records),
}

// unimplemented are operations of which one thing is said.
type unimplemented struct {
	why   string
	names []string
}

// missing are DynamoDB's other operations, with what is said of each group.
var missing = []unimplemented{
	{"it is one region, and has no global tables", []string{
		"CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "ListGlobalTables",
		"UpdateGlobalTable", "UpdateGlobalTableSettings", "DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling",
	}},
	{"it has no S3: use the command heatsink export, which writes the same files", []string{
		"DescribeExport", "ExportTableToPointInTime", "ListExports",
	}},
	{"it has no S3: use the command heatsink import, which reads the files of an export", []string{
		"DescribeImport", "ImportTable", "ListImports",
		"CancelBulkOperation", "DescribeBulkOperation", "ListBulkOperations", "StartBulkPutItems",
	}},
	{"it has no Kinesis: use DynamoDB Streams, which have the same records", []string{
		"DescribeKinesisStreamingDestination", "DisableKinesisStreamingDestination",
		"EnableKinesisStreamingDestination", "UpdateKinesisStreamingDestination",
	}},
	{"it has no IAM, so that a policy would decide nothing: its credentials may do everything", []string{
		"DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy",
	}},
	{"it has no vector indexes", []string{"SearchVectors"}},
}

// An Operation is one that clients may ask for. Its service has the name that the AWS CLI gives it.
type Operation struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	Refused bool   `json:"refused"` // with an error that says what there is not
}

// Operations returns all operations of DynamoDB, its streams and CloudWatch that are answered, and those that are refused by name.
func Operations() []Operation {
	var all []Operation
	for target := range operations {
		service := "dynamodb"
		name, of := strings.CutPrefix(target, streams)
		if of {
			service = "dynamodbstreams"
		}
		name = strings.TrimPrefix(name, dynamoDB)
		refused := slices.ContainsFunc(missing, func(group unimplemented) bool { return slices.Contains(group.names, name) })
		all = append(all, Operation{Service: service, Name: name, Refused: refused})
	}
	for name := range metricOperations {
		all = append(all, Operation{Service: "cloudwatch", Name: name})
	}
	slices.SortFunc(all, func(a, b Operation) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Name, b.Name))
	})
	return all
}

func init() {
	for _, group := range missing {
		for _, name := range group.names {
			err := &engine.Error{
				Type:    engine.TypeUnknownOperation,
				Message: "heatsink does not implement the operation " + name + ": " + group.why + "; see https://github.com/heatsink-go/heatsink/blob/main/docs/compatibility.md",
			}
			operations[dynamoDB+name] = func(context.Context, *engine.Engine, *exchange) error { return err }
		}
	}
}

// op puts an operation together. What read returns is the part of In that all
// requests have in common.
func op[In, Out any](
	read func(*request, *In) *engine.Request,
	call func(*engine.Engine, context.Context, *In) (Out, error),
	write func(*answer, Out),
) operation {
	return func(ctx context.Context, e *engine.Engine, x *exchange) error {
		in := new(In)
		x.request.common(read(&x.request, in))
		if err := x.request.end(); err != nil {
			return err
		}
		out, err := call(e, ctx, in)
		if err != nil {
			return err
		}
		x.answer.begin('{')
		write(&x.answer, out)
		x.answer.end('}')
		return x.answer.err
	}
}

// inNewWords is read for an operation that tells faults of values in AWS's newer words. AWS has them for writes of one
// item as well since October 2026, within an envelope, which contradicts the suite that the engine is held to.
func inNewWords[In any](read func(*request, *In) *engine.Request) func(*request, *In) *engine.Request {
	return func(r *request, in *In) *engine.Request {
		r.NewWords = true
		return read(r, in)
	}
}

// narrow is read for an operation whose numbers have exponents of 32 bits.
func narrow[In any](read func(*request, *In) *engine.Request) func(*request, *In) *engine.Request {
	return func(r *request, in *In) *engine.Request {
		r.Narrow = true
		return read(r, in)
	}
}

// nothing reads a request without parameters.
func (r *request) nothing(in *engine.Request) *engine.Request {
	for range r.Members(&requestType) {
		r.Skip()
	}
	return in
}

func describeLimits(e *engine.Engine, ctx context.Context, _ *engine.Request) (*engine.Limits, error) {
	return e.DescribeLimits(ctx)
}

func (a *answer) limits(l *engine.Limits) {
	a.int("AccountMaxReadCapacityUnits", l.AccountRead)
	a.int("AccountMaxWriteCapacityUnits", l.AccountWrite)
	a.int("TableMaxReadCapacityUnits", l.TableRead)
	a.int("TableMaxWriteCapacityUnits", l.TableWrite)
}

// describeEndpoints answers with the endpoint that it was asked at.
func describeEndpoints(_ context.Context, _ *engine.Engine, x *exchange) error {
	x.request.nothing(nil)
	if err := x.request.end(); err != nil {
		return err
	}
	a := &x.answer
	a.begin('{')
	a.array("Endpoints")
	a.element()
	a.string("Address", x.host)
	a.int("CachePeriodInMinutes", 1440)
	a.end('}')
	a.end(']')
	a.end('}')
	return nil
}
