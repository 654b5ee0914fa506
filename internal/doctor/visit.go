package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// checks are the names of all checks of a table, in the order of a report.
var checks = []string{
	"credentials", "endpoint", "clock", "retries", "permissions", "tables", "table", "record", "schema", "signatures",
	"ttl", "stream", "recovery", "capacity", "items",
}

// requestTime is how long one request of the doctor may take, with its retries.
const requestTime = 20 * time.Second

// visit is an examination under way. It is for one goroutine.
type visit struct {
	options Options
	client  *dynamodb.Client
	clock   *clock
	report  Report
	access  access

	blocked     string                  // why nothing can be asked of the server, "" if it can
	table       *types.TableDescription // nil: not known
	collections []*collection
	throttled   error  // the last request that was
	widest      int    // shards of the widest key with a ledger that was seen
	widestIndex string // and the index that lists it, "" for the table
}

// Examine examines an account, and a table if there is one. An error is ctx's: the report then has what was found before.
func Examine(ctx context.Context, options Options) (Report, error) {
	v := newVisit(options.withDefaults())
	v.credentials(ctx)
	v.retries()
	if v.options.Table == "" {
		v.tables(ctx)
	} else {
		v.examineTable(ctx)
	}
	if v.clock.answers > 0 && !v.has("clock") {
		v.add(v.clock.result())
	}
	v.permissions()
	if v.blocked == "" && ctx.Err() != nil {
		v.blocked = cutShort
	}
	v.unchecked()
	slices.SortStableFunc(v.report.Results, func(a, b Result) int {
		return cmp.Compare(slices.Index(checks, a.Check), slices.Index(checks, b.Check))
	})
	return v.report, ctx.Err()
}

// Unusable returns the report of settings with which no client can be made, so that nobody can be asked.
func Unusable(table, region, endpoint string, err error) Report {
	v := &visit{options: Options{Table: table}, blocked: "there is no client", report: Report{Table: table, Region: region, Endpoint: endpoint}}
	v.result("credentials", Problem, "check AWS_REGION, AWS_PROFILE and the files of the AWS CLI; for a local engine give --endpoint", "the settings cannot be used: %s", oneLine(err))
	v.unchecked()
	return v.report
}

func newVisit(o Options) *visit {
	settings := o.Client.Options()
	watch := &clock{HTTPClient: settings.HTTPClient}
	v := &visit{options: o, clock: watch}
	v.client = dynamodb.New(settings, func(s *dynamodb.Options) {
		s.HTTPClient = watch
		// What the environment says about retries is reported. The doctor itself gives up soon.
		s.Retryer = retry.NewStandard(func(s *retry.StandardOptions) { s.MaxAttempts, s.MaxBackoff = 3, time.Second })
	})
	v.report = Report{Table: o.Table, Region: settings.Region, Endpoint: aws.ToString(settings.BaseEndpoint), Results: []Result{}}
	return v
}

// examineTable makes the checks of a table. Each one that cannot be made says so, and the others go on.
func (v *visit) examineTable(ctx context.Context) {
	if v.blocked != "" {
		return
	}
	v.describe(ctx)
	if v.blocked != "" || v.has("table") && v.worst("table") == Problem {
		return
	}
	for _, check := range []func(context.Context){v.records, v.schema, v.signatures, v.timeToLive, v.recovery, v.stream, v.tryAccess, v.items, v.capacity} {
		if ctx.Err() != nil {
			return
		}
		check(ctx)
	}
}

func (v *visit) add(r Result) { v.report.Results = append(v.report.Results, r) }

func (v *visit) result(check string, o Outcome, remedy, format string, args ...any) {
	v.add(Result{Check: check, Outcome: o, Found: fmt.Sprintf(format, args...), Remedy: remedy})
}

// replace drops what a check has found before, and adds a result of it.
func (v *visit) replace(r Result) {
	v.report.Results = slices.DeleteFunc(v.report.Results, func(old Result) bool { return old.Check == r.Check })
	v.add(r)
}

// has reports whether a check has a result.
func (v *visit) has(check string) bool {
	return slices.ContainsFunc(v.report.Results, func(r Result) bool { return r.Check == check })
}

// worst returns the worst outcome of a check.
func (v *visit) worst(check string) (worst Outcome) {
	for _, r := range v.report.Results {
		if r.Check == check {
			worst = max(worst, r.Outcome)
		}
	}
	return worst
}

// unchecked adds a result for each check that was not made because of an earlier one.
func (v *visit) unchecked() {
	why := v.blocked
	if why == "" && v.options.Table != "" && v.worst("table") == Problem {
		why = "the table cannot be used"
	}
	if why == "" {
		return
	}
	for _, check := range checks {
		ofTable := slices.Index(checks, check) >= slices.Index(checks, "table")
		switch {
		case v.has(check), ofTable && v.options.Table == "", check == "tables" && v.options.Table != "":
		case check == "signatures", check == "permissions", check == "items" && v.options.NoSample:
		default:
			v.result(check, Unknown, "", "not checked: %s", why)
		}
	}
}

// limited bounds the time of one request.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestTime)
}

// key shows a key, or its hash.
func (v *visit) key(text string) string {
	if v.options.Redact != nil {
		return string(v.options.Redact(nil, []byte(text)))
	}
	return quote.Text(text)
}

// flags returns the flags with which another command reaches the same server, as the same account.
func (v *visit) flags() string {
	text := " --region " + v.report.Region
	if v.options.Profile != "" {
		text += " --profile " + argument(v.options.Profile)
	}
	if v.report.Endpoint != "" {
		text += " --endpoint " + v.report.Endpoint
	}
	return text
}

// controlFlags are flags for a command that also reads control items.
func (v *visit) controlFlags() string {
	if v.options.ControlTable == "" {
		return v.flags()
	}
	return " --control-table " + v.options.ControlTable + v.flags()
}

// aws returns a command of the AWS CLI about the table.
func (v *visit) aws(command string) string {
	text := "aws dynamodb " + command + " --table-name " + v.options.Table + " --region " + v.report.Region
	if v.options.Profile != "" {
		text += " --profile " + argument(v.options.Profile)
	}
	if v.report.Endpoint != "" {
		text += " --endpoint-url " + v.report.Endpoint
	}
	return text
}

// argument quotes a text for a shell.
func argument(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
