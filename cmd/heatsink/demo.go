package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/local"
)

// demo shows the local engine at work through the AWS SDK, as a program of
// yours would use it, and checks what it shows.
type demo struct {
	client *dynamodb.Client
	out    io.Writer // nil with --json
	report demoReport
}

// demoReport is what heatsink demo --json prints.
type demoReport struct {
	StartMillis     float64 `json:"startMillis"`
	Written         int     `json:"itemsWritten"`
	WritesPerSecond float64 `json:"writesPerSecond"`
	WriteUnits      float64 `json:"writeUnits"`
	Read            int     `json:"itemsRead"`
	Pages           int     `json:"pagesRead"`
	ReadUnits       float64 `json:"readUnits"`
	FromIndex       int     `json:"itemsFromIndex"`
	StreamRecords   int     `json:"streamRecords"`

	Heat []heatRun `json:"heat"`
}

const (
	demoTable   = "page-views"
	demoSite    = "example.com"
	demoItems   = 5000
	demoWriters = 16
	demoPages   = 7 // distinct pages viewed
)

func newDemo() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the local engine at work, in a few seconds",
		Long: `Start an engine inside this process, create a table with an index and a stream,
write to it from many goroutines, and read everything back in order, through the
AWS SDK for Go; then write to one key, and to many, of a table whose partitions
throttle. Nothing is installed, no port is opened, no AWS account is used.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{}
			if !asJSON {
				d.out = cmd.OutOrStdout()
			}
			if err := d.run(cmd.Context()); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(d.report)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}

func (d *demo) say(format string, args ...any) {
	if d.out != nil {
		fmt.Fprintf(d.out, format+"\n", args...)
	}
}

func (d *demo) run(ctx context.Context) (err error) {
	start := time.Now()
	db, err := local.New(local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d.client = db.Client()
	d.say("heatsink demo: DynamoDB inside this process, through the AWS SDK for Go\n")
	for _, step := range []func(context.Context) error{d.create, d.write, d.readInOrder, d.readIndex} {
		if err := step(ctx); err != nil {
			return err
		}
		if d.report.StartMillis == 0 {
			d.report.StartMillis = millis(time.Since(start))
			d.say("  started, table %q created   %8.1f ms", demoTable, d.report.StartMillis)
		}
	}
	if err := d.readStream(ctx, db); err != nil {
		return err
	}
	d.say("\n  Everything written was read back, in order, from table, index and stream.")
	if err := d.heat(ctx); err != nil {
		return err
	}
	d.say("\nOne key is one partition: 1,000 write units a second, whatever the table could take.")
	d.say("Next: heatsink serve --physics, or local.Start(t) in your own tests. Spreading a hot key")
	d.say("over shards is not part of this version yet.")
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (d *demo) create(ctx context.Context) error {
	return createViews(ctx, d.client, true)
}

// createViews creates a table of page views by site and number and, if it is to
// have them, an index by page and a stream.
func createViews(ctx context.Context, client *dynamodb.Client, indexed bool) error {
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(demoTable),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("site", types.ScalarAttributeTypeS),
			attribute("seen", types.ScalarAttributeTypeN),
		},
		KeySchema: []types.KeySchemaElement{key("site", types.KeyTypeHash), key("seen", types.KeyTypeRange)},
	}
	if indexed {
		in.AttributeDefinitions = append(in.AttributeDefinitions, attribute("page", types.ScalarAttributeTypeS))
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("by-page"),
			KeySchema:  []types.KeySchemaElement{key("page", types.KeyTypeHash), key("seen", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}}
		in.StreamSpecification = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		}
	}
	_, err := client.CreateTable(ctx, in)
	return err
}

// write puts the items, numbered in the sort key, from several goroutines.
func (d *demo) write(ctx context.Context) error {
	start := time.Now()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for writer := range demoWriters {
		group.Go(func() {
			for i := writer; i < demoItems; i += demoWriters {
				units, err := putView(ctx, d.client, demoSite, i)
				mu.Lock()
				d.report.WriteUnits += units
				d.report.Written++
				first = errors.Join(first, err)
				failed := first != nil
				mu.Unlock()
				if failed {
					return
				}
			}
		})
	}
	group.Wait()
	if first != nil {
		return first
	}
	d.report.WritesPerSecond = float64(demoItems) / time.Since(start).Seconds()
	d.say("  %d items written, %2d writers    %8.0f writes/s   %6.0f write units (table and index)",
		d.report.Written, demoWriters, d.report.WritesPerSecond, d.report.WriteUnits)
	return nil
}

// putView puts one page view and returns what it cost.
func putView(ctx context.Context, client *dynamodb.Client, site string, i int) (units float64, err error) {
	out, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(demoTable),
		Item: map[string]types.AttributeValue{
			"site": &types.AttributeValueMemberS{Value: site},
			"seen": &types.AttributeValueMemberN{Value: strconv.Itoa(i)},
			"page": &types.AttributeValueMemberS{Value: pageOf(i)},
			"from": &types.AttributeValueMemberS{Value: "search"},
		},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return 0, err
	}
	return aws.ToFloat64(out.ConsumedCapacity.CapacityUnits), nil
}

func pageOf(i int) string { return fmt.Sprintf("/page/%d", i%demoPages) }

// readInOrder reads the collection page by page and checks that every number
// comes, in order, once.
func (d *demo) readInOrder(ctx context.Context) error {
	pages := dynamodb.NewQueryPaginator(d.client, &dynamodb.QueryInput{
		TableName:                 aws.String(demoTable),
		KeyConditionExpression:    aws.String("site = :site"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":site": &types.AttributeValueMemberS{Value: demoSite}},
		Limit:                     aws.Int32(1000),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		d.report.Pages++
		d.report.ReadUnits += aws.ToFloat64(page.ConsumedCapacity.CapacityUnits)
		for _, item := range page.Items {
			if n, ok := item["seen"].(*types.AttributeValueMemberN); !ok || n.Value != strconv.Itoa(d.report.Read) {
				return fmt.Errorf("item %d of the query is %v", d.report.Read, item["seen"])
			}
			d.report.Read++
		}
	}
	if d.report.Read != d.report.Written {
		return fmt.Errorf("%d items written, %d read back", d.report.Written, d.report.Read)
	}
	d.say("  %d items read, in order         %6d pages      %6.1f read units", d.report.Read, d.report.Pages, d.report.ReadUnits)
	return nil
}

func (d *demo) readIndex(ctx context.Context) error {
	for page := range demoPages {
		out, err := d.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 aws.String(demoTable),
			IndexName:                 aws.String("by-page"),
			KeyConditionExpression:    aws.String("page = :page"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":page": &types.AttributeValueMemberS{Value: pageOf(page)}},
			Select:                    types.SelectCount,
		})
		if err != nil {
			return err
		}
		d.report.FromIndex += int(out.Count)
	}
	if d.report.FromIndex != d.report.Written {
		return fmt.Errorf("%d items written, the index has %d", d.report.Written, d.report.FromIndex)
	}
	d.say("  %d items counted through the index, by %d pages of the site", d.report.FromIndex, demoPages)
	return nil
}
