package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/local"
)

// readStream reads the table's stream to its end and checks that it has a record
// for each write.
func (d *demo) readStream(ctx context.Context, db *local.DB) error {
	table, err := d.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(demoTable)})
	if err != nil {
		return err
	}
	streams, arn := db.StreamsClient(), table.Table.LatestStreamArn
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		return err
	}
	for _, shard := range described.StreamDescription.Shards {
		at, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			return err
		}
		for iterator := at.ShardIterator; iterator != nil; {
			out, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
			if err != nil {
				return err
			}
			if len(out.Records) == 0 {
				break // an open shard has no end
			}
			d.report.StreamRecords += len(out.Records)
			iterator = out.NextShardIterator
		}
	}
	if d.report.StreamRecords != d.report.Written {
		return fmt.Errorf("%d items written, the stream has %d records", d.report.Written, d.report.StreamRecords)
	}
	d.say("  %d records read from the stream", d.report.StreamRecords)
	return nil
}
