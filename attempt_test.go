package heatsink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want verdict
		fast bool // counts as a throttle
	}{
		{"success", nil, done, false},
		{"throughput", faulty.Throttled.Err(), throttled, true},
		{"throttling", faulty.Answer(400, &types.ThrottlingException{}), throttled, true},
		{"account limit", faulty.Answer(400, &types.RequestLimitExceeded{}), throttled, true},
		{"conflict", faulty.Answer(400, &types.TransactionConflictException{}), throttled, false},
		{"conflict of regions", faulty.Answer(400, &types.ReplicatedWriteConflictException{}), throttled, false},
		{"unprocessed", fmt.Errorf("batch: %w", &unprocessedError{1, 2}), throttled, true},
		{"429", faulty.Answer(429, errors.New("slow down")), throttled, true},
		{"dial", faulty.Unreached.Err(), throttled, false},
		{"condition", faulty.Answer(400, &types.ConditionalCheckFailedException{}), rejected, false},
		{"condition of a fake", &types.ConditionalCheckFailedException{}, rejected, false},
		{"validation", faulty.Answer(400, &smithy.GenericAPIError{Code: "ValidationException"}), rejected, false},
		{"access denied", faulty.Answer(400, &smithy.GenericAPIError{Code: "AccessDeniedException"}), rejected, false},
		{"parameters", smithy.InvalidParamsError{}, rejected, false},
		{"408", faulty.Answer(408, errors.New("timeout")), unknown, false},
		{"500", faulty.BrokeDown.Err(), unknown, false},
		{"500 of a fake", &types.InternalServerError{}, unknown, false},
		{"503", faulty.Answer(503, &smithy.GenericAPIError{Code: "ServiceUnavailable"}), unknown, false},
		{"200 and nonsense", faulty.Answer(200, &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}), unknown, false},
		{"reset", faulty.LostRequest.Err(), unknown, false},
		{"end of file", faulty.LostAnswer.Err(), unknown, false},
		{"cancelled", &smithy.CanceledError{Err: context.Canceled}, unknown, false},
		{"deadline", context.DeadlineExceeded, unknown, false},
		{"anything", errors.New("?"), unknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judge(c.err); got != c.want {
				t.Errorf("got verdict %d, want %d", got, c.want)
			}
			if got := tooFast(c.err); got != c.fast {
				t.Errorf("got tooFast %t, want %t", got, c.fast)
			}
		})
	}
}

// What the SDK really returns, from servers that behave badly.
func TestJudgeTheSDK(t *testing.T) {
	put := func(t *testing.T, url string, timeout time.Duration) error {
		client := dynamodb.New(dynamodb.Options{
			BaseEndpoint: &url, Region: "us-east-1", HTTPClient: &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}},
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
			}),
		})
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: ov("pk", "a")}, once)
		return err
	}
	serve := func(t *testing.T, answer http.HandlerFunc) string {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   verdict
	}{
		{"hangs up", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, unknown},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, unknown},
		{"500", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`, 500)
		}, unknown},
		{"proxy's 503", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusServiceUnavailable) }, unknown},
		{"throttled", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`, 400)
		}, throttled},
		{"invalid", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazon.coral.validate#ValidationException"}`, 400)
		}, rejected},
		{"slow", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := put(t, serve(t, c.answer), 200*time.Millisecond)
			if got := judge(err); got != c.want {
				t.Errorf("got verdict %d, want %d, for %v", got, c.want, err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + listener.Addr().String()
		_ = listener.Close()
		if err := put(t, url, time.Second); judge(err) != throttled || tooFast(err) {
			t.Errorf("got verdict %d, too fast: %t, want %d and no throttle, for %v", judge(err), tooFast(err), throttled, err)
		}
	})
	t.Run("no table name", func(t *testing.T) {
		_, err := local.Start(t).Client().PutItem(t.Context(), &dynamodb.PutItemInput{}, once)
		if judge(err) != rejected {
			t.Errorf("got verdict %d, want %d, for %v", judge(err), rejected, err)
		}
	})
}

// testCore returns a core without a client, for the loop alone.
func testCore(t *testing.T, retry Retry) *core {
	t.Helper()
	c, err := newCore(nil, Options{Table: "t", PartitionKey: "pk", Retry: retry, Rand: rand.NewPCG(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAttemptsUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCore(t, Retry{})
		var cost Cost
		errs := []error{faulty.Throttled.Err(), faulty.BrokeDown.Err(), faulty.Unreached.Err(), nil}
		sent, err := c.attempts(context.Background(), &cost, c.readRetries, func(_ context.Context, attempt int) error { return errs[attempt-1] }, nil)
		if sent != 4 || err != nil {
			t.Errorf("got %d attempts and %v, want 4 and success", sent, err)
		}
		if want := (Cost{Requests: 4, Retries: 3, Throttles: 1}); cost != want {
			t.Errorf("got %+v, want %+v", cost, want)
		}
	})
}

func TestAttemptsEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		again func(verdict) bool
		want  int
	}{
		{"rejected", &types.ConditionalCheckFailedException{}, nil, 1},
		{"all attempts throttled", faulty.Throttled.Err(), nil, 6},
		{"all attempts unknown", faulty.LostAnswer.Err(), nil, 6},
		{"not again", faulty.LostAnswer.Err(), func(v verdict) bool { return v != unknown }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := testCore(t, Retry{})
				sent, err := core.attempts(context.Background(), &Cost{}, core.readRetries, func(context.Context, int) error { return c.err }, c.again)
				if sent != c.want || !errors.Is(err, c.err) {
					t.Errorf("got %d attempts and %v, want %d and %v", sent, err, c.want, c.err)
				}
			})
		})
	}
}

// Waits are a random part of 20, 40, 80, 160 and 320 ms, and of no more than the maximum from then on.
func TestBackoff(t *testing.T) {
	c := testCore(t, Retry{Max: 500 * time.Millisecond})
	for n := 1; n <= 70; n++ {
		want := 500 * time.Millisecond
		if n <= 5 {
			want = 20 * time.Millisecond << (n - 1)
		}
		var longest, total time.Duration
		const draws = 2000
		for range draws {
			wait := c.backoff(n)
			longest = max(longest, wait)
			total += wait
		}
		if mean := total / draws; longest > want || mean < want*46/100 || mean > want*54/100 {
			t.Errorf("retry %d waits %s at most and %s on average, want up to %s and half of it", n, longest, mean, want)
		}
	}
}

func TestAttemptsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCore(t, Retry{Base: time.Hour, Max: time.Hour})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		sent, err := c.attempts(ctx, &Cost{}, c.readRetries, func(context.Context, int) error { return faulty.Throttled.Err() }, nil)
		if sent != 1 || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*types.ProvisionedThroughputExceededException)) {
			t.Errorf("got %d attempts and %v, want one and both reasons", sent, err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the wait ended after %s, want the second that the context has", took)
		}

		sent, err = c.attempts(ctx, &Cost{}, c.readRetries, func(context.Context, int) error { t.Error("sent"); return nil }, nil)
		if sent != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the deadline: got %d attempts and %v, want none", sent, err)
		}

		ctx, cancel = context.WithCancel(context.Background())
		sent, err = c.attempts(ctx, &Cost{}, c.readRetries, func(context.Context, int) error {
			cancel()
			return faulty.LostAnswer.Err()
		}, func(verdict) bool { t.Error("asked whether to go on"); return true })
		if sent != 1 || !errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cancelled: got %d attempts and %v, want one and both reasons", sent, err)
		}
	})
}

// An attempt that takes too long is given up and repeated, its outcome being unknown.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCore(t, Retry{Attempts: 3, Timeout: time.Second, Base: time.Nanosecond, Max: time.Nanosecond})
		start, verdicts := time.Now(), 0
		sent, err := c.attempts(context.Background(), &Cost{}, c.readRetries, func(ctx context.Context, attempt int) error {
			if attempt == 3 {
				return nil
			}
			<-ctx.Done()
			return &smithy.CanceledError{Err: ctx.Err()}
		}, func(v verdict) bool {
			if v == unknown {
				verdicts++
			}
			return true
		})
		if sent != 3 || err != nil || verdicts != 2 || time.Since(start).Round(time.Second) != 2*time.Second {
			t.Errorf("got %d attempts, %d of them unknown, and %v after %s; want 3, 2 and success after two seconds", sent, verdicts, err, time.Since(start))
		}
	})
}

// 003-21: with everything throttled, attempts stay within the budget, and the callers learn of it. 001-06.
func TestTotalThrottling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		client := faulty.On(t, local.Start(t).Client(), faulty.Always(faulty.Throttled))
		const requests = 1000
		views := openItems(t, client, Options{Layout: Layout{Shards: 4}, Retry: Retry{Budget: 0.2, Burst: 50}})
		var meter Meter
		start := time.Now()
		for i := range requests {
			_, err := views.Put(WithMeter(ctx, &meter), ov("pk", "VIEWS", "sk", fmt.Sprint(i)))
			failed, ok := errors.AsType[*ShardError](err)
			if !ok || failed.Operation != "PutItem" || failed.Table != "items" || failed.Attempts < 1 || !errors.As(err, new(*types.ProvisionedThroughputExceededException)) {
				t.Fatalf("put %d: got %v, want a throttled PutItem", i, err)
			}
		}
		sent := client.Count("PutItem")
		if most := int(1.2*requests) + 50; sent > most || sent < most-1 {
			t.Errorf("%d puts took %d attempts, want all of the %d that the budget allows", requests, sent, most)
		}
		if got, want := meter.Cost(), (Cost{Requests: sent, Retries: sent - requests, Throttles: sent}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if time.Since(start) == 0 {
			t.Error("retries did not wait")
		}
	})
}

// 001-06: on partitions that throttle, the trouble shows as latency, then as errors; what was acknowledged is there, and
// what was not is not.
func TestThrottlingIsNeverSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := startWith(t, local.Options{Physics: &local.Physics{PartitionWrites: 10, Window: time.Second, OnDemandPartitions: 2, NoSplits: true}})
		client := db.Client()
		makeTable(t, client, "items")
		views := openItems(t, client, Options{Layout: Layout{Shards: 1}})
		acknowledged := map[string]bool{}
		slow, failed := 0, 0
		for i := range 300 {
			id, start := fmt.Sprint(i), time.Now()
			switch _, err := views.Put(ctx, ov("pk", "VIEWS", "sk", id)); {
			case err == nil:
				acknowledged[id] = true
				if time.Since(start) > 0 {
					slow++
				}
			case errors.As(err, new(*types.ProvisionedThroughputExceededException)), errors.As(err, new(*types.ThrottlingException)):
				failed++
			default:
				t.Fatal(err)
			}
		}
		if slow == 0 || failed == 0 || len(acknowledged)+failed != 300 {
			t.Errorf("%d puts were acknowledged, %d of them late, and %d refused: want some of each", len(acknowledged), slow, failed)
		}
		items := everyItem(t, client, "items")
		for _, item := range items {
			if !acknowledged[attrText(item, "sk")] {
				t.Errorf("%s is there, but was refused", attrText(item, "sk"))
			}
		}
		if len(items) != len(acknowledged) {
			t.Errorf("%d items are there, %d were acknowledged", len(items), len(acknowledged))
		}
	})
}
