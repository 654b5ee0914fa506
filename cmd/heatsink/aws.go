package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/logging"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/internal/wholebody"
)

// account says whose tables are looked at: those of an AWS account, as the AWS CLI would, or of an engine at an endpoint.
type account struct{ endpoint, region, profile string }

func (a *account) flags(f *pflag.FlagSet) {
	f.StringVar(&a.endpoint, "endpoint", "", "URL of another DynamoDB, such as http://127.0.0.1:8000 for heatsink serve")
	f.StringVar(&a.region, "region", "", "AWS region (default: AWS_REGION, or the region of the profile)")
	f.StringVar(&a.profile, "profile", "", "AWS profile (default: AWS_PROFILE)")
}

// clients are those of one account.
type clients struct {
	tables  *dynamodb.Client
	streams *dynamodbstreams.Client
	metrics *cloudwatch.Client
}

func (a *account) clients(ctx context.Context) (clients, error) {
	if err := checkEndpoint(a.endpoint); err != nil {
		return clients{}, err
	}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(newHTTPClient(answerTime, wholeTime)),
		config.WithLogger(logging.Nop{}), // what matters is in the errors
	}
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
	cfg.HTTPClient = wholebody.Client{HTTPClient: cfg.HTTPClient}
	if a.endpoint != "" {
		cfg.BaseEndpoint = aws.String(a.endpoint)
		a.local(&cfg)
	}
	if cfg.Region == "" {
		return clients{}, errors.New("no AWS region: give --region or set AWS_REGION; for a local engine give --endpoint")
	}
	return clients{
		dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.HTTPClient = limitedClient{o.HTTPClient, pageLimits} }),
		dynamodbstreams.NewFromConfig(cfg, func(o *dynamodbstreams.Options) { o.HTTPClient = limitedClient{o.HTTPClient, pageLimits} }),
		cloudwatch.NewFromConfig(cfg, func(o *cloudwatch.Options) { o.HTTPClient = limitedClient{o.HTTPClient, metricLimits} }),
	}, nil
}

// checkEndpoint returns an error if the value of --endpoint is no URL.
func checkEndpoint(endpoint string) error {
	if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("--endpoint %q is not a URL: give one such as http://127.0.0.1:8000", endpoint)
	}
	return nil
}

// local fills in what an engine on one's own machine does not care for, where nothing says otherwise: the search for
// credentials would end at the metadata service of a cloud machine, which takes long to be missing.
func (a *account) local(cfg *aws.Config) {
	cfg.Region = cmp.Or(cfg.Region, "us-east-1")
	if a.profile == "" && os.Getenv("AWS_PROFILE") == "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("heatsink", "heatsink", "")
	}
}

// newHTTPClient returns a client that waits so long for an answer to begin, and for all of it.
func newHTTPClient(begin, whole time.Duration) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTimeout(whole).WithTransportOptions(func(t *http.Transport) {
		t.ResponseHeaderTimeout = begin
	})
}

const (
	answerTime = 30 * time.Second // how long a server may think about a request
	wholeTime  = 45 * time.Second // until the end of its answer: a page comes at 25 KB a second at least
)

// missingTable is an error about a table that is not there, and says where.
type missingTable struct {
	table, where string
	err          error
}

func (e *missingTable) Error() string { return fmt.Sprintf("table %q not found %s", e.table, e.where) }

func (e *missingTable) Unwrap() error { return e.err }

// explain says where a table was not found, if that is what an error is about.
func (c clients) explain(table string, err error) error {
	if missing := (*types.ResourceNotFoundException)(nil); !errors.As(err, &missing) {
		return err
	}
	o := c.tables.Options()
	if endpoint := aws.ToString(o.BaseEndpoint); endpoint != "" {
		return &missingTable{table, "at " + endpoint, err}
	}
	return &missingTable{table, "in " + o.Region, err}
}
