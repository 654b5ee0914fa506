package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// slowLog is a disk on which syncs of the log wait for a gate.
type slowLog struct {
	vfs.FS
	mu   sync.Mutex
	gate chan struct{} // closed: open
}

func (s *slowLog) Unwrap() vfs.FS { return s.FS }

func (s *slowLog) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, category)
	return s.slow(name, f), err
}

func (s *slowLog) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(oldName, newName, category)
	return s.slow(newName, f), err
}

func (s *slowLog) slow(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return &slowFile{f, s}
}

// shut makes syncs wait until open is called.
func (s *slowLog) shut() (open func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return func() { close(gate) }
}

func (s *slowLog) wait() {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

type slowFile struct {
	vfs.File
	of *slowLog
}

func (f *slowFile) Sync() error     { f.of.wait(); return f.File.Sync() }
func (f *slowFile) SyncData() error { f.of.wait(); return f.File.SyncData() }

func (f *slowFile) SyncTo(length int64) (bool, error) { f.of.wait(); return f.File.SyncTo(length) }

// A change is visible before it is durable. Who promises what was read waits until a crash cannot take it back: consistent reads,
// transactions, records of streams, and refusals because of what is stored. Eventually consistent reads do not.
func TestNothingIsToldThatACrashTakesBack(t *testing.T) {
	tab, key := "tab", fields("pk", "a")
	absent := Expressions{Condition: new("attribute_not_exists(pk)")}
	for name, c := range map[string]struct {
		waits bool
		ask   func(context.Context, *Engine, string) error
	}{
		"GetItem": {false, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.GetItem(ctx, &GetItemInput{TableName: &tab, Key: key, HasKey: true})
			return err
		}},
		"consistent GetItem": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.GetItem(ctx, &GetItemInput{TableName: &tab, Key: key, HasKey: true, ConsistentRead: true})
			return err
		}},
		"consistent BatchGetItem": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.BatchGetItem(ctx, &BatchGetItemInput{Tables: []BatchGetTable{{TableName: tab, Keys: []attr.Item{key}, ConsistentRead: true}}})
			return err
		}},
		"Scan": {false, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.Scan(ctx, &ReadInput{TableName: &tab})
			return err
		}},
		"consistent Scan": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.Scan(ctx, &ReadInput{TableName: &tab, ConsistentRead: true})
			return err
		}},
		"consistent SELECT": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.ExecuteStatement(ctx, &StatementInput{Statement: new("SELECT * FROM tab"), ConsistentRead: true})
			return err
		}},
		"TransactGetItems": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.TransactGetItems(ctx, &TransactGetItemsInput{HasGets: true, Gets: []*GetItemInput{{TableName: &tab, Key: key, HasKey: true}}})
			return err
		}},
		"GetRecords": {true, func(ctx context.Context, e *Engine, iterator string) error {
			out, err := e.GetRecords(ctx, &GetRecordsInput{ShardIterator: &iterator})
			if err == nil && len(out.Records) != 1 {
				err = errors.New("no record")
			}
			return err
		}},
		"a condition that fails": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.PutItem(ctx, &PutItemInput{TableName: &tab, Item: key, HasItem: true, Expressions: absent})
			return expect(err, TypeConditionalCheckFailed)
		}},
		"a transaction that fails": {true, func(ctx context.Context, e *Engine, _ string) error {
			_, err := e.TransactWriteItems(ctx, &TransactWriteItemsInput{HasActions: true, Actions: []TransactWrite{{Put: &PutItemInput{TableName: &tab, Item: key, HasItem: true, Expressions: absent}}}})
			return expect(err, TypeTransactionCanceled)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bubble.Test(t, func(t *testing.T) {
				disk := &slowLog{FS: vfs.Default}
				e := openEngine(t, Options{Dir: dir, FS: disk})
				arn := createStreamed(t, e, tab, "KEYS_ONLY")
				iterator := shardIterator(t, e, arn, describeStream(t, e, arn).Shards[0].ShardID, "TRIM_HORIZON")
				open := disk.shut()
				var all sync.WaitGroup
				all.Go(func() { putItem(t, e, tab, key) })
				synctest.Wait() // it is visible, and waits for the disk
				var told bool
				all.Go(func() {
					if err := c.ask(t.Context(), e, iterator); err != nil {
						t.Error(err)
					}
					told = true
				})
				synctest.Wait()
				if told == c.waits {
					t.Errorf("it is answered before the change is durable: %t, want %t", told, !c.waits)
				}
				open()
				all.Wait()
				if err := c.ask(t.Context(), e, iterator); err != nil { // nothing to wait for
					t.Error(err)
				}
			})
		})
	}
}

// expect returns an error unless err is an answer of this type.
func expect(err error, kind string) error {
	if answer := (*Error)(nil); errors.As(err, &answer) && answer.Type == kind {
		return nil
	}
	return errors.Join(errors.New("want "+kind), err)
}
