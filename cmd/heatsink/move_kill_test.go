package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// slowly makes a move of some hundred items take seconds, of which a busy machine may miss a few before it stops the move.
var slowly = []string{"--wcu", "40"}

// moved returns how many orders are in shards.
func (s *ledgerServer) moved(t *testing.T) int {
	t.Helper()
	out, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("orders"), Select: types.SelectCount, ConsistentRead: aws.Bool(true),
		FilterExpression: aws.String("contains(#s, :shard)"), ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues: heatsink.Item{":shard": &types.AttributeValueMemberS{Value: "#SHARD_"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}

// waitUntilMoved waits until n orders are in shards. If they never are, it ends the mover and the test.
func (s *ledgerServer) waitUntilMoved(t *testing.T, n int, end func()) {
	t.Helper()
	for until := time.Now().Add(time.Minute); s.moved(t) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			end()
			t.Fatal("the mover moves nothing")
		}
	}
}

// stopped runs a move slowly, and interrupts it as soon as it has moved some orders.
func (s *ledgerServer) stopped(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, errs bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		code = run(ctx, append(args, slowly...), &out, &errs)
	}()
	wait := func() { interrupt(); <-ended }
	s.waitUntilMoved(t, 20, wait)
	wait()
	return out.String(), errs.String(), code
}

// A mover that is killed in the middle is started again, and every item is in its place.
func TestMoveIsKilled(t *testing.T) {
	t.Parallel()
	s := serveOrders(t)
	s.fillOrders(t, 300)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes"}
	killed := exec.CommandContext(t.Context(), self, append(args, slowly...)...)
	killed.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	stdin, err := killed.StdinPipe() // the child ends with it
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	s.waitUntilMoved(t, 40, func() {
		_ = killed.Process.Kill()
		_ = killed.Wait()
	})
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Fatal("the mover ended before it was killed")
	}
	if n := s.moved(t); n >= 300 {
		t.Fatalf("%d items were moved before the mover was killed", n)
	}
	stdout, stderr, code := command(t, append(args, "--wcu", "100000")...)
	if code != 0 || !strings.Contains(stdout, "every item is where the layout has it: 300") || s.moved(t) != 300 {
		t.Errorf("%d, %s, %s", code, stdout, stderr)
	}
}
