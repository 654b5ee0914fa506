package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// backup is a table as it was at one moment. Its items lie in the store as those of
// a table with the backup's number would: it takes numbers as tables do, and a table
// that is deleted can leave its items to a backup. Indexes are not kept, as a
// restore makes them anew. A backup is never changed: another takes its place.
type backup struct {
	ID      uint32
	ARN     string
	Name    string
	Type    string // USER or SYSTEM
	Created time.Time
	Expires time.Time        // zero: never
	Whole   bool             // false while its items are copied
	Table   TableDescription // with the counts of its items, and the indexes that were ACTIVE
	TTL     string
}

const (
	userBackup   = "USER"
	systemBackup = "SYSTEM"

	// systemLife is how long the backup of a deleted table is kept.
	systemLife = 35 * 24 * time.Hour

	// maxCopies is how many backups may be made at once, and how many tables restored.
	maxCopies = 50
)

// newBackup describes a backup of a table, which the caller holds.
func (e *Engine) newBackup(t *table, id uint32, kind, name string, now time.Time) *backup {
	b := &backup{
		ID: id, Name: name, Type: kind, TTL: t.ttl,
		Created: now.UTC().Truncate(time.Millisecond),
		Table:   t.record.copy().Description,
	}
	b.Table.ItemCount, b.Table.SizeBytes = t.usage.items.Load(), t.usage.bytes.Load()
	b.Table.prune()
	suffix := uint32(0)
	if kind == systemBackup {
		b.Expires = b.Created.Add(systemLife)
	} else {
		suffix = id * 2654435761 // an odd number: different for each backup
	}
	b.ARN = fmt.Sprintf("%s/backup/%014d-%08x", b.Table.ARN, b.Created.UnixMilli(), suffix)
	if e.hasBackup(b.ARN) { // tables of the same name were deleted within a millisecond
		return e.newBackup(t, id, kind, name, b.Created.Add(time.Millisecond))
	}
	return b
}

// save puts the backup's description into a batch.
func (b *backup) save(batch *store.Batch) error {
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("save backup %s: %w", b.ARN, err)
	}
	batch.Set(store.BackupKey(b.ID), text)
	return nil
}

// status is the backup's BackupStatus.
func (b *backup) status() string {
	if b.Whole {
		return "AVAILABLE"
	}
	return "CREATING"
}

// drop makes a batch remove the backup.
func (b *backup) drop(batch *store.Batch) {
	batch.Delete(store.BackupKey(b.ID))
	batch.DeleteRange(store.Items(b.ID))
}

// loadBackups brings back the backups. One that was not whole when the process ended
// is removed: the moment that it was to be of has passed.
func (e *Engine) loadBackups() error {
	batch := e.store.NewBatch()
	err := each(e.store.View, store.Backups(), func(_, value []byte) error {
		b := &backup{}
		if err := json.Unmarshal(value, b); err != nil {
			return fmt.Errorf("read backup: %w", err)
		}
		e.nextTable = max(e.nextTable, b.ID+1)
		if b.Whole {
			e.backups[backupKey(b.ARN)] = b
			return nil
		}
		b.drop(batch)
		if e.options.Logger != nil {
			e.options.Logger.Warn("a backup was not complete when the process ended, and is removed", "backup", b.ARN)
		}
		return nil
	})
	if err != nil {
		batch.Discard()
		return err
	}
	batch.Upkeep()
	return batch.Commit()
}

// backupKey is what tells backups apart: the region of an ARN does not.
func backupKey(arn string) string {
	_, after, _ := strings.Cut(arn, ":table/")
	return after
}

// checkBackupARN checks the ARN of a backup, which may be missing.
func (e *Engine) checkBackupARN(arn string) error {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "dynamodb" {
		return invalid("Invalid Backup ARN")
	}
	path := strings.Split(parts[5], "/")
	switch {
	case len(path) != 4 || path[0] != "table" || path[2] != "backup" || path[1] == "" || path[3] == "":
		return invalid("Invalid Backup ARN")
	case parts[4] != e.options.Account:
		return errorf(TypeAccessDenied, "Access is denied")
	}
	return nil
}

func (e *Engine) hasBackup(arn string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.backups[backupKey(arn)] != nil
}

// findBackup returns the backup with an ARN.
func (e *Engine) findBackup(arn string) (*backup, error) {
	if err := e.checkBackupARN(arn); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	b := e.backups[backupKey(arn)]
	if b == nil || b.expired(time.Now()) {
		return nil, errorf(TypeBackupNotFound, "Backup not found: %s", arn)
	}
	return b, nil
}

func (b *backup) expired(now time.Time) bool { return !b.Expires.IsZero() && !now.Before(b.Expires) }

// putBackup makes a backup known, in the place of the one before.
func (e *Engine) putBackup(b *backup) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.backups[backupKey(b.ARN)] = b
}

// removeBackup removes a backup for good.
func (e *Engine) removeBackup(b *backup) error {
	batch := e.store.NewBatch()
	b.drop(batch)
	if err := batch.Commit(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.backups, backupKey(b.ARN))
	return nil
}

// sweepBackups removes the backups whose time is over. It returns when the next one
// is, the zero time if there is none.
func (e *Engine) sweepBackups(now time.Time) (next time.Time, err error) {
	e.mu.RLock()
	var over []*backup
	for _, b := range e.backups {
		switch {
		case b.Expires.IsZero():
		case b.expired(now):
			over = append(over, b)
		case next.IsZero() || b.Expires.Before(next):
			next = b.Expires
		}
	}
	e.mu.RUnlock()
	for _, b := range over {
		if e.restoring(func(r *restoring) bool { return r.Backup == b.ID }) == nil {
			err = errors.Join(err, e.removeBackup(b))
			continue
		}
		if soon := now.Add(sweepRetry); next.IsZero() || soon.Before(next) {
			next = soon
		}
	}
	return next, err
}

// prune removes the definitions of attributes that no key has.
func (d *TableDescription) prune() {
	used := keyNames(d.KeySchema)
	for _, x := range slices.Concat(d.LocalIndexes, d.GlobalIndexes) {
		used = append(used, keyNames(x.KeySchema)...)
	}
	d.AttributeDefinitions = slices.DeleteFunc(slices.Clone(d.AttributeDefinitions), func(a AttributeDefinition) bool {
		return !slices.Contains(used, a.AttributeName)
	})
}
