package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// CreateBackupInput is the request of CreateBackup.
type CreateBackupInput struct {
	Request
	TableName  *string
	BackupName *string
}

// BackupInput is the request of DescribeBackup and DeleteBackup.
type BackupInput struct {
	Request
	BackupARN *string
}

// Backup is what there is to tell of a backup.
type Backup struct {
	ARN, Name, Type, Status string
	Created                 time.Time
	Expires                 time.Time // zero: never
	Table                   TableDescription
	TTL                     string // the TTL attribute; empty: none
}

// ListBackupsInput is the request of ListBackups.
type ListBackupsInput struct {
	Request
	TableName      *string
	Type           *string
	From, To       *time.Time // TimeRangeLowerBound, which counts, and TimeRangeUpperBound, which does not
	ExclusiveStart *string
	Limit          *int64
}

// ListBackupsOutput is the answer of ListBackups.
type ListBackupsOutput struct {
	Backups       []*Backup
	LastEvaluated string // empty: the end
}

func (b *backup) describe() *Backup {
	return &Backup{
		ARN: b.ARN, Name: b.Name, Type: b.Type, Status: b.status(),
		Created: b.Created, Expires: b.Expires, Table: b.Table, TTL: b.TTL,
	}
}

// patience is how long an answer waits for copies that go on without it. Then the
// backup or table shows as CREATING.
const patience = time.Second

// await waits for a copy, for a moment. It returns its error, if it has one by then.
func await[T any](ctx context.Context, moment time.Duration, done <-chan T) (result T) {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case result = <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return result
}

// CreateBackup makes a backup of a table as it is. It is answered as being created,
// and is whole when the answer is, unless copying takes longer than a moment.
func (e *Engine) CreateBackup(ctx context.Context, in *CreateBackupInput) (*Backup, error) {
	if err := checkTableName(in.TableName); err != nil {
		return nil, err
	}
	var c constraints
	c.required("backupName", in.BackupName != nil)
	c.resourceName("backupName", in.BackupName)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	b, done, err := e.beginBackup(ctx, nameOf(*in.TableName), strings.Clone(*in.BackupName))
	if err != nil {
		return nil, err
	}
	if err := await(ctx, e.options.patience, done); err != nil {
		return nil, fmt.Errorf("backup %s: %w", b.ARN, err)
	}
	return b.describe(), nil
}

// beginBackup stores the description of a backup and starts to copy the items.
func (e *Engine) beginBackup(ctx context.Context, table, name string) (*backup, <-chan error, error) {
	if err := e.lockAdmin(ctx); err != nil {
		return nil, nil, err
	}
	defer e.admin.unlock()
	t, err := e.backedTable(ctx, table)
	if err != nil {
		return nil, nil, err
	}
	defer t.release()
	if e.unfinished() >= maxCopies {
		return nil, nil, errorf(TypeLimitExceeded, "Subscriber limit exceeded: Only %d backups can be created at the same time", maxCopies)
	}
	b := e.newBackup(t, e.nextTable, userBackup, name, time.Now())
	e.nextTable++
	batch := e.store.NewBatch()
	if err := b.save(batch); err != nil {
		batch.Discard()
		return nil, nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, nil, fmt.Errorf("store backup %s: %w", b.ARN, err)
	}
	e.putBackup(b)
	view, done, from := e.store.Snapshot(), make(chan error, 1), t.record.ID
	started := e.jobs.run(func(ctx context.Context) {
		err := errors.Join(e.fillBackup(ctx, view.View, from, b), view.Close())
		switch {
		case ctx.Err() != nil:
			err = errClosed() // the next start removes it
		case err != nil:
			e.abandonBackup(ctx, b, err)
		}
		done <- err
	})
	if !started {
		return nil, nil, errors.Join(errClosed(), view.Close())
	}
	return b, done, nil
}

// abandonBackup removes a backup that cannot be made: on a disk that is full, it would keep others from writing.
func (e *Engine) abandonBackup(ctx context.Context, b *backup, why error) {
	if e.options.Logger != nil {
		e.options.Logger.Error("a backup cannot be made, and is removed", "backup", b.ARN, "error", why)
	}
	for {
		err := e.removeBackup(b)
		if err == nil {
			return
		}
		e.complain(ctx, "remove a backup that is not whole", err, "backup", b.ARN)
		if !rest(ctx, mostWait) { // the next start removes it
			return
		}
	}
}

// unfinished is how many backups are being made.
func (e *Engine) unfinished() (n int) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, b := range e.backups {
		if !b.Whole {
			n++
		}
	}
	return n
}

// fillBackup copies a table's items into a backup, which is whole then.
func (e *Engine) fillBackup(ctx context.Context, view store.View, from uint32, b *backup) (err error) {
	defer e.survive(&err)
	if err := e.copyItems(ctx, view, from, b.ID); err != nil {
		return err
	}
	whole := *b
	whole.Whole = true
	held, err := e.count(ctx, b.ID, store.BaseIndex)
	if err != nil {
		return err
	}
	whole.Table.ItemCount, whole.Table.SizeBytes = held.Items, held.Bytes
	batch := e.store.NewBatch()
	if err := whole.save(batch); err != nil {
		batch.Discard()
		return err
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	e.putBackup(&whole)
	return nil
}

// backedTable is openTable with the words that operations on backups have for a table
// that is missing.
func (e *Engine) backedTable(ctx context.Context, name string) (*table, error) {
	t, err := e.openTable(ctx, name)
	return t, missingBacked(err, name)
}

func missingBacked(err error, name string) error {
	if isMissing(err) {
		return errorf(TypeTableNotFound, "Table not found: %s", name)
	}
	return err
}

// DescribeBackup describes a backup.
func (e *Engine) DescribeBackup(_ context.Context, in *BackupInput) (*Backup, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	b, err := e.findBackup(*in.BackupARN)
	if err != nil {
		return nil, err
	}
	return b.describe(), nil
}

func (in *BackupInput) validate() error {
	var c constraints
	c.backupARN("backupArn", in.BackupARN)
	if err := c.err(); err != nil {
		return err
	}
	return in.check()
}

// backupARN checks that an ARN is there. A short one is no ARN of a backup.
func (c *constraints) backupARN(at string, arn *string) {
	c.required(at, arn != nil)
	c.text(at, arn, 0, 1024, false)
}

// DeleteBackup deletes a backup, which is gone when the answer comes.
func (e *Engine) DeleteBackup(ctx context.Context, in *BackupInput) (*Backup, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	if err := e.lockAdmin(ctx); err != nil { // no restore begins meanwhile
		return nil, err
	}
	defer e.admin.unlock()
	b, err := e.findBackup(*in.BackupARN)
	switch {
	case err != nil:
		return nil, err
	case b.Type == systemBackup:
		return nil, invalidRequest("User is not allowed to delete the system backup with arn %s. It will automatically expire on %s",
			b.ARN, b.Expires.Format(time.RFC3339))
	case !b.Whole:
		return nil, errorf(TypeBackupInUse, "Backup is being created: %s", b.ARN)
	case e.restoring(func(r *restoring) bool { return r.Backup == b.ID }) != nil:
		return nil, errorf(TypeBackupInUse, "Backup is being used to restore table: %s", b.ARN)
	}
	if err := e.removeBackup(b); err != nil {
		return nil, fmt.Errorf("delete backup %s: %w", b.ARN, err)
	}
	out := b.describe()
	out.Status = "DELETED"
	return out, nil
}

// ListBackups lists backups in the order of tables' names and, for each, of time.
func (e *Engine) ListBackups(_ context.Context, in *ListBackupsInput) (*ListBackupsOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	after := ""
	if in.ExclusiveStart != nil {
		if err := e.checkBackupARN(*in.ExclusiveStart); err != nil {
			return nil, err
		}
		after = backupKey(*in.ExclusiveStart)
	}
	now := time.Now()
	var keys []string
	found := map[string]*backup{}
	e.mu.RLock()
	for key, b := range e.backups {
		if key > after && in.wants(b) && !b.expired(now) {
			keys = append(keys, key)
			found[key] = b
		}
	}
	e.mu.RUnlock()
	slices.Sort(keys)
	out := &ListBackupsOutput{}
	if limit := pageSize(in.Limit, 100); len(keys) > limit {
		keys = keys[:limit]
		out.LastEvaluated = found[keys[limit-1]].ARN
	}
	for _, key := range keys {
		out.Backups = append(out.Backups, found[key].describe())
	}
	return out, nil
}

func (in *ListBackupsInput) validate() error {
	var c constraints
	c.resourceName("tableName", shortName(in.TableName))
	c.word("backupType", in.Type, userBackup, systemBackup, "AWS_BACKUP", "ALL")
	c.text("exclusiveStartBackupArn", in.ExclusiveStart, 37, 1024, false)
	c.page(in.Limit, 100)
	if err := c.err(); err != nil {
		return err
	}
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return invalidParameter("Time range lower bound must be less than or equal to upper bound")
	}
	return in.check()
}

// wants reports whether the request is about a backup.
func (in *ListBackupsInput) wants(b *backup) bool {
	kind := userBackup
	if in.Type != nil {
		kind = *in.Type
	}
	return (kind == "ALL" || kind == b.Type) &&
		(in.TableName == nil || nameOf(*in.TableName) == b.Table.TableName) &&
		(in.From == nil || !b.Created.Before(*in.From)) &&
		(in.To == nil || b.Created.Before(*in.To))
}
