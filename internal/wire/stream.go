package wire

import (
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

var (
	shardFilterType = member("ShardFilter")
	dateType        = jsonpull.Type{Shape: jsonpull.Scalar, Class: "Date"}
)

func (r *request) listStreams(in *engine.ListStreamsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "ExclusiveStartStreamArn":
			in.ExclusiveStart = r.optString()
		case "Limit":
			in.Limit = r.optInteger()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) describeStream(in *engine.DescribeStreamInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "StreamArn":
			in.StreamARN = r.optString()
		case "Limit":
			in.Limit = r.optInteger()
		case "ExclusiveStartShardId":
			in.ExclusiveStartShard = r.optString()
		case "ShardFilter":
			in.HasFilter = true
			for name := range r.Members(&shardFilterType) {
				switch name {
				case "Type":
					in.FilterType = r.optString()
				case "ShardId":
					in.FilterShard = r.optString()
				default:
					r.Skip()
				}
			}
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) getShardIterator(in *engine.GetShardIteratorInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "StreamArn":
			in.StreamARN = r.optString()
		case "ShardId":
			in.ShardID = r.optString()
		case "ShardIteratorType":
			in.Type = r.optString()
		case "SequenceNumber":
			in.SequenceNumber = r.optString()
		case "Timestamp":
			in.Timestamp = r.optTime()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) getRecords(in *engine.GetRecordsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ShardIterator":
			in.ShardIterator = r.optString()
		case "Limit":
			in.Limit = r.optInteger()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) listStreams(out *engine.ListStreamsOutput) {
	a.array("Streams")
	for i := range out.Streams {
		a.element()
		a.stream(&out.Streams[i])
		a.end('}')
	}
	a.end(']')
	a.optString("LastEvaluatedStreamArn", out.LastEvaluated)
}

func (a *answer) stream(s *engine.StreamSummary) {
	a.string("StreamArn", s.ARN)
	a.string("StreamLabel", s.Label)
	a.string("TableName", s.TableName)
}

func (a *answer) describeStream(s *engine.StreamDescription) {
	a.object("StreamDescription")
	a.stream(&s.StreamSummary)
	a.string("StreamStatus", s.Status)
	a.string("StreamViewType", s.ViewType)
	a.optTime("CreationRequestDateTime", s.Created)
	a.keySchema(s.KeySchema)
	a.array("Shards")
	for i := range s.Shards {
		a.element()
		a.shard(&s.Shards[i])
		a.end('}')
	}
	a.end(']')
	a.optString("LastEvaluatedShardId", s.LastEvaluatedShard)
	a.end('}')
}

func (a *answer) shard(s *engine.Shard) {
	a.string("ShardId", s.ShardID)
	a.optString("ParentShardId", s.ParentShardID)
	a.object("SequenceNumberRange")
	a.string("StartingSequenceNumber", s.StartingSequence)
	a.optString("EndingSequenceNumber", s.EndingSequence)
	a.end('}')
}

func (a *answer) shardIterator(iterator string) {
	a.string("ShardIterator", iterator)
}

func (a *answer) records(out *engine.GetRecordsOutput) {
	a.array("Records")
	for i := range out.Records {
		a.element()
		a.record(&out.Records[i])
		a.end('}')
	}
	a.end(']')
	a.optString("NextShardIterator", out.NextIterator)
}

func (a *answer) record(r *engine.StreamRecord) {
	a.string("eventID", r.EventID)
	a.string("eventName", r.EventName)
	a.string("eventVersion", "1.1")
	a.string("eventSource", "aws:dynamodb")
	a.string("awsRegion", a.region)
	a.object("dynamodb")
	a.optTime("ApproximateCreationDateTime", r.Created)
	a.optRaw("Keys", r.Keys)
	a.optRaw("NewImage", r.NewImage)
	a.optRaw("OldImage", r.OldImage)
	a.string("SequenceNumber", r.Sequence)
	a.int("SizeBytes", r.SizeBytes)
	a.string("StreamViewType", r.ViewType)
	a.end('}')
	if r.Expired {
		a.object("userIdentity")
		a.string("PrincipalId", "dynamodb.amazonaws.com")
		a.string("Type", "Service")
		a.end('}')
	}
}
