package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// login is what to do about credentials that are missing, over or wrong.
const login = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in with aws sso login; for a local engine give --endpoint"

// credentials finds out whether there are any. Whether they are right is for the server to say.
func (v *visit) credentials(ctx context.Context) {
	ctx, cancel := limited(ctx)
	defer cancel()
	provider := v.client.Options().Credentials
	if provider == nil {
		provider = aws.AnonymousCredentials{}
	}
	found, err := provider.Retrieve(ctx)
	switch {
	case faultOf(err) == interrupted:
		v.blocked = cutShort
		return
	case err != nil:
		v.blocked = "there are no credentials"
		v.result("credentials", Problem, login, "no credentials: %s", oneLine(err))
		return
	case found.Expired():
		v.blocked = "the credentials have expired"
		v.result("credentials", Problem, login, "the credentials from %s expired at %s", source(found), found.Expires.UTC().Format(time.RFC3339))
		return
	}
	text := "from " + source(found)
	if found.AccountID != "" {
		text += ", of account " + found.AccountID
	}
	if found.CanExpire {
		text += ", until " + found.Expires.UTC().Format(time.RFC3339)
	}
	v.result("credentials", OK, "", "%s", text)
}

// cutShort is why checks are missing that nobody waited for.
const cutShort = "the examination was interrupted"

// source names where credentials come from, as the SDK does.
func source(c aws.Credentials) string {
	if c.Source == "" {
		return "an unnamed source"
	}
	return c.Source
}

// oneLine returns an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// answered judges the first request to the server: what its outcome says of the endpoint, the credentials and the clock. It
// returns the fault, which is none of those three if nothing is blocked.
func (v *visit) answered(err error) fault {
	f := faultOf(err)
	where := "DynamoDB in " + v.report.Region
	if v.report.Endpoint != "" {
		where = v.report.Endpoint
	}
	reached := func() { v.result("endpoint", OK, "", "%s answers", where) }
	switch f {
	case expired, stranger, signature:
		reached()
		v.blocked = "the server refuses the credentials"
		v.replace(Result{"credentials", Problem, "the server refuses the credentials: " + reason(err), v.credentialRemedy(f)})
	case late:
		reached()
		v.blocked = "the server refuses the time of signatures"
		v.add(Result{"clock", Problem, "the server refuses the time of signatures: " + reason(err), "synchronize the clock: timedatectl set-ntp true, or chronyc makestep"})
	case unreachable:
		v.blocked = "the endpoint does not answer"
		v.result("endpoint", Problem, v.endpointRemedy(), "%s does not answer: %s", where, reason(err))
	case interrupted:
		v.blocked = cutShort
	case other:
		if v.clock.answers == 0 || !isAPI(err) {
			v.blocked = "the endpoint does not answer as DynamoDB does"
			v.result("endpoint", Problem, v.endpointRemedy(), "%s does not answer as DynamoDB does: %s", where, oneLine(err))
			return f
		}
		reached()
	default:
		reached()
	}
	return f
}

func (v *visit) credentialRemedy(f fault) string {
	switch {
	case f == expired:
		return "renew them: log in again with aws sso login, or assume the role again"
	case v.report.Endpoint != "":
		return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to those that the server was started with (heatsink serve --help)"
	case f == signature:
		return "check AWS_SECRET_ACCESS_KEY, and that the region is the one of the endpoint"
	}
	return "check AWS_PROFILE and AWS_ACCESS_KEY_ID; a region that is not enabled for the account refuses all keys as well: aws account list-regions"
}

func (v *visit) endpointRemedy() string {
	if v.report.Endpoint != "" {
		return "check --endpoint; heatsink serve runs an engine on http://127.0.0.1:8000"
	}
	return "check the region (--region, AWS_REGION), HTTPS_PROXY, and the machine's way to the network: a VPC needs an endpoint for DynamoDB"
}

// tables lists what there is.
func (v *visit) tables(ctx context.Context) {
	if v.blocked != "" {
		return
	}
	names, more, err := v.list(ctx)
	f := v.answered(err)
	v.access.note("ListTables", anything, err)
	switch {
	case v.blocked != "":
	case f == denied:
		v.result("tables", Unknown, seePermissions, "these credentials may not list tables; heatsink doctor TABLE works without that")
	case err != nil:
		v.result("tables", Unknown, "try again", "the tables cannot be listed: %s", reason(err))
	case len(names) == 0:
		v.result("tables", Warning, "check --region and --profile, or create a table", "there are no tables in %s", v.report.Region)
	default:
		v.result("tables", OK, "", "%s: %s", count(len(names), more), listed(names, 10))
	}
}

// list returns the names of up to 100 tables, and whether there are more.
func (v *visit) list(ctx context.Context) (names []string, more bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	out, err := v.client.ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(100)})
	if err != nil {
		return nil, false, err
	}
	if out.TableNames == nil { // a DynamoDB without tables answers with an empty list
		return nil, false, errors.New("its answer to ListTables lists no tables")
	}
	return out.TableNames, out.LastEvaluatedTableName != nil, nil
}

func count(n int, more bool) string {
	if more {
		return fmt.Sprintf("more than %d tables", n)
	}
	return figure.Count(n, "table")
}

// listed returns names, and how many it leaves out.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(slices.Clip(names[:most]), ", "), len(names)-most)
}

// retries reports what the environment says about the SDK's retries. heatsink's collections do not use them.
func (v *visit) retries() {
	o := v.options.Client.Options()
	const own = "heatsink's collections retry by Options.Retry, and turn the SDK's retries off"
	attempts, mode := o.RetryMaxAttempts, o.RetryMode
	text := fmt.Sprintf("the SDK retries in mode %s", modeText(mode))
	if attempts > 0 {
		text += ", up to " + figure.Count(attempts, "attempt")
	}
	switch {
	case mode == aws.RetryModeAdaptive:
		v.result("retries", Warning, "set AWS_RETRY_MODE=standard, or retry_mode in the profile",
			"%s: after a throttle it slows all requests of a client, also those for keys that are cool; %s", text, own)
	case attempts == 1:
		v.result("retries", Warning, "set AWS_MAX_ATTEMPTS=3, or max_attempts in the profile",
			"%s: requests outside of heatsink's collections fail at the first throttle; %s", text, own)
	case attempts > 10:
		v.result("retries", Warning, "set AWS_MAX_ATTEMPTS=3, or max_attempts in the profile",
			"%s: requests outside of heatsink's collections multiply an overload by as much; %s", text, own)
	default:
		v.result("retries", OK, "", "%s; %s", text, own)
	}
}

func modeText(m aws.RetryMode) string {
	if m == "" {
		return "standard"
	}
	return m.String()
}

// isAPI reports whether an error is an answer of the protocol.
func isAPI(err error) bool {
	var api interface{ ErrorCode() string }
	return errors.As(err, &api)
}
