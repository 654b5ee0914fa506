package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// count returns how many items a table has, 0 if there is none.
func (s *ledgerServer) count(t *testing.T, table string) int {
	t.Helper()
	out, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), Select: types.SelectCount, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return 0
	}
	return int(out.Count)
}

// An import that is killed in the middle is started again, and the table is whole.
func TestImportIsKilled(t *testing.T) {
	s, dir := serveOrders(t), t.TempDir()
	s.fillOrders(t, 300)
	stdout, stderr, code := command(t, "export", "orders", dir, "--endpoint", s.endpoint, "--segments", "2")
	if code != 0 || !strings.Contains(stdout, "300 items of table orders exported: 2 files in ") {
		t.Fatalf("%d, %s, %s", code, stdout, stderr)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"import", dir, "copy", "--endpoint", s.endpoint}
	killed := exec.CommandContext(t.Context(), self, append(args, "--wcu", "50", "--workers", "1")...)
	killed.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	stdin, err := killed.StdinPipe() // the child ends with it
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); s.count(t, "copy") < 25; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			_ = killed.Process.Kill()
			_ = killed.Wait()
			t.Fatal("the import writes nothing")
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Fatal("the import ended before it was killed")
	}
	stdout, stderr, code = command(t, append(args, "--json")...)
	var line struct {
		Complete bool
		Result   struct {
			Items   int
			Resumed bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || code != 0 || !line.Complete || line.Result.Items != 300 || !line.Result.Resumed {
		t.Errorf("%d, %v, %s, %s", code, err, stdout, stderr)
	}
	if n := s.count(t, "copy"); n != 300 {
		t.Errorf("the table has %d items, want 300", n)
	}
}

func TestExportAndImportRefuse(t *testing.T) {
	s, dir := serveOrders(t), t.TempDir()
	s.fillOrders(t, 3)
	if _, stderr, code := command(t, "export", "orders", dir, "--endpoint", s.endpoint); code != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"export", "orders"}, "want a table and a directory: use heatsink export TABLE DIR"},
		{[]string{"export", "nothing", dir}, `table "nothing" not found at http`},
		{[]string{"export", "orders", dir, "--rcu", "0"}, "--rcu: want a number above 0"},
		{[]string{"export", "orders", dir, "--segments", "0"}, "--segments 0: want 1 to 256"},
		{[]string{"import"}, "want a directory, and a table or none: use heatsink import DIR [TABLE]"},
		{[]string{"import", filepath.Join(dir, "none")}, "none"},
		{[]string{"import", t.TempDir()}, "no finished export in it"},
		{[]string{"import", dir}, `table "orders" has items: add --replace`},
		{[]string{"import", dir, "--wcu", "-1"}, "--wcu: want a number above 0"},
		{[]string{"import", dir, "--workers", "65"}, "--workers 65: want 1 to 64"},
		{[]string{"import", dir, "new", "--checkpoint", filepath.Join(dir, "no", "where")}, "write the checkpoint"},
	} {
		if len(c.args) > 1 {
			c.args = append(c.args, "--endpoint", s.endpoint)
		}
		if _, stderr, code := command(t, c.args...); code != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "the same command again") {
			t.Errorf("%v: %d, %s; want %q", c.args, code, stderr, c.want)
		}
	}
	if stdout, stderr, code := command(t, "import", dir, "--replace", "--endpoint", s.endpoint); code != 0 || !strings.Contains(stdout, "3 items of table orders imported") {
		t.Errorf("%d, %s, %s", code, stdout, stderr)
	}
}
