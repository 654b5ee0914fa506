package heatsink

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// core is a collection without its type: it does the work.
type core struct {
	client                    Client
	options                   Options  // with defaults
	readRetries, writeRetries *budget  // of the whole collection: reads must not spend what writes need
	beside                    []string // attributes that tell items of the same key apart
	chooser                   *chooser
	readers                   *limiter
	sizes                     sizes
	passing                   passRates
	tail                      tail
}

func newCore(client Client, options Options) (*core, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	options.warn()
	c := &core{
		client:       client,
		options:      options,
		readRetries:  newBudget(options.Retry),
		writeRetries: newBudget(options.Retry),
		chooser:      newChooser(options.Rand),
		readers:      newLimiter(options.MaxConcurrency),
	}
	c.beside = c.findBeside()
	return c, nil
}

// once turns the SDK's own retries off: it would repeat a request without knowing whether another shard will do.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
