package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/spf13/pflag"
)

// account says whose tables are looked at: those of an AWS account, as the AWS CLI would, or of an engine at an endpoint.
type account struct{ endpoint, region, profile string }

func (a *account) flags(f *pflag.FlagSet) {
	f.StringVar(&a.endpoint, "endpoint", "", "another DynamoDB, such as http://127.0.0.1:8000 (heatsink serve)")
	f.StringVar(&a.region, "region", "", "AWS region (default: AWS_REGION, or the profile's)")
	f.StringVar(&a.profile, "profile", "", "AWS profile (default: AWS_PROFILE)")
}

// clients are those of one account.
type clients struct {
	tables  *dynamodb.Client
	streams *dynamodbstreams.Client
	metrics *cloudwatch.Client
}

func (a *account) clients(ctx context.Context) (clients, error) {
	var options []func(*config.LoadOptions) error
	if a.region != "" {
		options = append(options, config.WithRegion(a.region))
	}
	if a.profile != "" {
		options = append(options, config.WithSharedConfigProfile(a.profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return clients{}, err
	}
	if a.endpoint != "" {
		cfg.BaseEndpoint = aws.String(a.endpoint)
		cfg.HTTPClient = wholeBodies{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
		a.local(&cfg)
	}
	if cfg.Region == "" {
		return clients{}, errors.New("no AWS region: give --region or set AWS_REGION, or --endpoint for an engine of your own")
	}
	return clients{dynamodb.NewFromConfig(cfg), dynamodbstreams.NewFromConfig(cfg), cloudwatch.NewFromConfig(cfg)}, nil
}

// local fills in what an engine on one's own machine does not care for, where nothing says otherwise: the search for
// credentials would end at the metadata service of a cloud machine, which takes long to be missing.
func (a *account) local(cfg *aws.Config) {
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if a.profile == "" && os.Getenv("AWS_PROFILE") == "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("heatsink", "heatsink", "")
	}
}

// wholeBodies sends requests in one piece. Left to itself, the SDK calls a body ended once the answer comes, which net/http,
// if it was not yet done with it, takes for a failure and closes the connection on the rest of the answer: against an engine
// on the same machine, which answers at once, that happens (aws-sdk-go-v2, issue 2737).
type wholeBodies struct{ *http.Client }

func (c wholeBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.Client.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c.Client.Do(r)
}
