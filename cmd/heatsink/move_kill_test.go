package main

import (
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

// A mover that is killed in the middle is started again, and every item is in its place.
func TestMoveIsKilled(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 300)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes"}
	killed := exec.CommandContext(t.Context(), self, append(args, "--wcu", "300")...)
	killed.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	stdin, err := killed.StdinPipe() // the child ends with it
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	moved := func() int {
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
	for until := time.Now().Add(time.Minute); moved() < 40; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			_ = killed.Process.Kill()
			_ = killed.Wait()
			t.Fatal("the mover moves nothing")
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Fatal("the mover ended before it was killed")
	}
	if n := moved(); n >= 300 {
		t.Fatalf("%d items were moved before the mover was killed", n)
	}
	stdout, stderr, code := command(t, append(args, "--wcu", "100000")...)
	if code != 0 || !strings.Contains(stdout, "every item is where the layout has it: 300") || moved() != 300 {
		t.Errorf("%d, %s, %s", code, stdout, stderr)
	}
}
