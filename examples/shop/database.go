package main

import (
	"context"
	"fmt"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// database is DynamoDB: the engine in this process, or AWS. A recorder counts every call, for the page and the metrics.
type database struct {
	client   *dynamodb.Client
	recorder *heat.Recorder
	engine   *local.DB // nil on AWS
}

func openDatabase(ctx context.Context, c config) (*database, error) {
	recorder, err := heat.NewRecorder(heat.Options{Top: 500})
	if err != nil {
		return nil, err
	}
	if c.aws {
		// Reads of many shards go out at once, so connections to DynamoDB are worth keeping.
		pool := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 256 })
		settings, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(pool))
		if err != nil {
			return nil, fmt.Errorf("AWS configuration: %w", err)
		}
		return &database{client: dynamodb.NewFromConfig(settings, recorder.Option), recorder: recorder}, nil
	}
	engine, err := local.New(local.Options{Dir: c.data, Physics: &local.Physics{}}) // partitions throttle as DynamoDB's do
	if err != nil {
		return nil, err
	}
	return &database{client: engine.Client(recorder.Option), recorder: recorder, engine: engine}, nil
}

func (db *database) close() error {
	if db.engine == nil {
		return nil
	}
	return db.engine.Close()
}
