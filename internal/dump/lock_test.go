package dump

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/local"
)

// halting is a client that stops before its first page or write, until it is told to go on.
type halting struct {
	Client
	halted, on chan struct{}
}

func newHalting(c Client) *halting {
	return &halting{c, make(chan struct{}, 100), make(chan struct{})}
}

func (h *halting) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if in.Limit == nil { // a page of an export
		h.halted <- struct{}{}
		<-h.on
	}
	return h.Client.Scan(ctx, in, with...)
}

func (h *halting) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	h.halted <- struct{}{}
	<-h.on
	return h.Client.BatchWriteItem(ctx, in, with...)
}

// wantNoLocks looks for locks that were not removed.
func wantNoLocks(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			t.Errorf("%s is still there", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An export does not go on with another one that is under way. It did, and one of them was damaged.
func TestTwoExportsAtOnce(t *testing.T) {
	client, dir := local.Start(t).Client(), t.TempDir()
	orders(t, client, 50)
	first := newHalting(client)
	done := make(chan error)
	go func() {
		_, err := Export(t.Context(), first, ExportOptions{Table: "orders", Dir: dir})
		done <- err
	}()
	<-first.halted
	if _, err := Export(t.Context(), client, ExportOptions{Table: "orders", Dir: dir}); err == nil || !strings.Contains(err.Error(), "another export of table orders writes there") {
		t.Errorf("the second export: %v", err)
	}
	close(first.on)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantNoLocks(t, dir)
	if in, err := Import(t.Context(), client, ImportOptions{Dir: dir, Table: "copy"}); err != nil || in.Items != 50 {
		t.Errorf("got %+v, %v", in, err)
	}
	if got, want := contents(t, client, "copy"), contents(t, client, "orders"); !reflect.DeepEqual(got, want) {
		t.Error("the items are not the same")
	}
}

func TestTwoImportsAtOnce(t *testing.T) {
	client, dir := local.Start(t).Client(), t.TempDir()
	orders(t, client, 50)
	if _, err := Export(t.Context(), client, ExportOptions{Table: "orders", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	first := newHalting(client)
	done := make(chan error)
	go func() {
		_, err := Import(t.Context(), first, ImportOptions{Dir: dir, Table: "copy"})
		done <- err
	}()
	<-first.halted
	if _, err := Import(t.Context(), client, ImportOptions{Dir: dir, Table: "copy"}); err == nil || !strings.Contains(err.Error(), "another import uses this checkpoint") {
		t.Errorf("the second import: %v", err)
	}
	close(first.on)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantNoLocks(t, dir)
}

// A killed process leaves its lock, which is free then.
func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := takeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(path); !errors.Is(err, errHeld) {
		t.Errorf("taken twice: %v", err)
	}
	if err := held.release(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(path); err == nil || !strings.Contains(err.Error(), "not a lock") {
		t.Errorf("a file of somebody else: %v", err)
	}
}

// Whatever is named as a checkpoint by mistake is left as it was.
func TestForeignCheckpoints(t *testing.T) {
	client := local.Start(t).Client()
	const one = "{\"Item\":{\"id\":{\"S\":\"a\"}}}\n"
	md5 := checksum(nil)
	for name, text := range map[string]string{
		"an object":                   `{"name":"shop"}`,
		"an empty object":             `{}`,
		"null":                        `null`,
		"a list":                      `[1]`,
		"nothing":                     ``,
		"no JSON":                     `what`,
		"a checkpoint, and more":      `{"ExportARN":"","Manifest":"` + md5 + `","TableID":"","Files":null} {}`,
		"a member of others":          `{"ExportARN":"","Manifest":"` + md5 + `","TableID":"","Files":null,"name":"shop"}`,
		"a checkpoint without an MD5": `{"ExportARN":"","Manifest":"x","TableID":"","Files":null}`,
	} {
		path := filepath.Join(t.TempDir(), "file.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Import(t.Context(), client, ImportOptions{Dir: forged(t, one, func(*folder) {}), Key: "id:S", Checkpoint: path})
		if err == nil || !strings.Contains(err.Error(), "not the checkpoint of an import, so it is not overwritten") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file has %q, %v", name, got, err)
		}
	}
	dir := forged(t, one, func(*folder) {})
	if _, err := Import(t.Context(), client, ImportOptions{Dir: dir, Key: "id:S", Checkpoint: filepath.Join(dir, summaryFile)}); err == nil {
		t.Error("the summary of the export is taken for a checkpoint")
	}
	old := filepath.Join(t.TempDir(), "old.json") // of another import, cut short
	if err := os.WriteFile(old, []byte(`{"ExportARN":"arn","Manifest":"`+md5+`","TableID":"id","Files":["a"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err := Import(t.Context(), client, ImportOptions{Dir: dir, Key: "id:S", Checkpoint: old}); err != nil || in.Items != 1 || in.Resumed {
		t.Errorf("the export is damaged: %+v, %v", in, err)
	}
}
