// Package enginetest runs a test on every engine there is: ours, one that nobody here wrote, and whatever
// HEATSINK_ENDPOINT names.
package enginetest

import (
	"context"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/local"
)

// Endpoint is the environment variable that names one more engine, such as http://127.0.0.1:8000. Tests create and delete
// tables there. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION are heeded.
const Endpoint = "HEATSINK_ENDPOINT"

// Each runs a test on every engine.
func Each(t *testing.T, test func(t *testing.T, client *dynamodb.Client)) {
	t.Run("local", func(t *testing.T) { test(t, local.Start(t).Client()) })
	t.Run("dynoxide", func(t *testing.T) { test(t, client(peer.Start(t))) })
	if endpoint := os.Getenv(Endpoint); endpoint != "" {
		t.Run("endpoint", func(t *testing.T) { test(t, client(endpoint)) })
	}
}

func client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       env("AWS_REGION", "us-east-1"),
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider(env("AWS_ACCESS_KEY_ID", "heatsink"), env("AWS_SECRET_ACCESS_KEY", "heatsink"), ""),
	})
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// DropTable deletes a table when the test ends.
func DropTable(t *testing.T, client *dynamodb.Client, table string) {
	t.Cleanup(func() {
		_, _ = client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &table})
	})
}
