package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// restoring says what a table is being restored from. Until it is whole, it is being
// created.
type restoring struct {
	Backup  uint32 // the number of a backup; zero: of none
	Table   uint32 // the number of a table with history; zero: of none
	At      uint64 // the time of that table, in nanoseconds since 1970
	Summary RestoreSummary
}

// RestoreSummary tells what a table is being restored from.
type RestoreSummary struct {
	BackupARN string // empty: a point in time
	TableARN  string
	At        time.Time
}

// RestoreInput is the request of RestoreTableFromBackup, which has a BackupARN, and of
// RestoreTableToPointInTime, which has a source and a time.
type RestoreInput struct {
	Request
	BackupARN       *string
	SourceTableName *string
	SourceTableARN  *string
	At              *time.Time
	Latest          bool

	TargetTableName       *string
	BillingMode           *string
	ProvisionedThroughput *Throughput
	OnDemandThroughput    *Throughput
	GlobalIndexes         []IndexInput
	HasGlobalIndexes      bool
	LocalIndexes          []IndexInput
	HasLocalIndexes       bool
	Encryption            *Encryption
}

// restoring returns a table that is being restored from what is asked for, or nil.
func (e *Engine) restoring(from func(*restoring) bool) *table {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, t := range e.tables {
		if r := t.restoring.Load(); r != nil && from(r) {
			return t
		}
	}
	return nil
}

// RestoreTableFromBackup makes a table of a backup. It is answered as being created,
// and is there when the answer is, unless copying takes longer than a moment.
func (e *Engine) RestoreTableFromBackup(ctx context.Context, in *RestoreInput) (*TableDescription, error) {
	var c constraints
	c.backupARN("backupArn", in.BackupARN)
	if err := in.validate(&c); err != nil {
		return nil, err
	}
	return e.restore(ctx, in, func() (*TableDescription, *restoring, *store.Snapshot, error) {
		b, err := e.findBackup(*in.BackupARN)
		if err != nil {
			return nil, nil, nil, err
		}
		if !b.Whole {
			return nil, nil, nil, errorf(TypeBackupInUse, "Backup is being created: %s", b.ARN)
		}
		if e.restoring(func(r *restoring) bool { return r.Backup == b.ID }) != nil {
			return nil, nil, nil, errorf(TypeBackupInUse, "Backup is being used to restore another table: %s", b.ARN)
		}
		from := &restoring{Backup: b.ID, Summary: RestoreSummary{b.ARN, b.Table.ARN, b.Created}}
		return &b.Table, from, e.store.Snapshot(), nil
	})
}

// RestoreTableToPointInTime makes a table of another one as it was.
func (e *Engine) RestoreTableToPointInTime(ctx context.Context, in *RestoreInput) (*TableDescription, error) {
	var c constraints
	if err := in.validate(&c); err != nil {
		return nil, err
	}
	name, err := in.source()
	if err != nil {
		return nil, err
	}
	return e.restore(ctx, in, func() (*TableDescription, *restoring, *store.Snapshot, error) {
		t, err := e.lookup(name)
		if err != nil {
			return nil, nil, nil, missingBacked(err, name)
		}
		// Held for writing: changes that have their time have happened.
		if err := t.lock.lock(ctx); err != nil {
			return nil, nil, nil, fmt.Errorf("table %s: %w", name, err)
		}
		defer t.lock.unlock()
		return e.pointInTime(t, in)
	})
}

// source returns the name of the table that is to be restored as it was.
func (in *RestoreInput) source() (string, error) {
	switch {
	case in.SourceTableName != nil && in.SourceTableARN != nil:
		return "", invalid("Must provide exactly one of: sourceTableArn, sourceTableName")
	case in.SourceTableName == nil && in.SourceTableARN == nil:
		return "", invalid("The parameter 'TableName' is required but was not present in the request")
	case in.SourceTableARN != nil && nameOf(*in.SourceTableARN) == *in.SourceTableARN:
		return "", invalid("sourceTableArn is not a valid ARN")
	case in.At != nil && in.Latest:
		return "", invalidRequest("Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. " +
			"Please specify one of them")
	case in.At == nil && !in.Latest:
		return "", invalidRequest("Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both")
	case in.SourceTableARN != nil:
		return nameOf(*in.SourceTableARN), nil
	}
	return nameOf(*in.SourceTableName), nil
}

// pointInTime finds out what to restore of a table that the caller holds for writing.
func (e *Engine) pointInTime(t *table, in *RestoreInput) (*TableDescription, *restoring, *store.Snapshot, error) {
	if t.dropped != nil || t.creating() {
		return nil, nil, nil, errorf(TypeTableNotFound, "Table not found: %s", t.name)
	}
	if t.record.Recovery == nil {
		return nil, nil, nil, errorf(TypeNoRecovery, "Point in time recovery is not enabled for table '%s'", t.name)
	}
	now := time.Now()
	first, last := e.restorable(t.record.Recovery, now)
	at := last
	if in.At != nil {
		at = *in.At
	}
	if at.Before(t.record.Recovery.earliest(now)) || at.After(last) { // a request may be more exact than an answer
		return nil, nil, nil, errorf(TypeInvalidRestoreTime, "RestoreDateTime '%s' must be within EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%s'",
			at.UTC().Format(time.RFC3339), first.Format(time.RFC3339), last.Format(time.RFC3339))
	}
	d := t.record.copy().Description
	from := &restoring{Table: t.record.ID, At: uint64(at.UnixNano()), Summary: RestoreSummary{"", d.ARN, at.UTC()}}
	return &d, from, e.store.Snapshot(), nil
}

// validate checks what both requests have.
func (in *RestoreInput) validate(c *constraints) error {
	if c.required("targetTableName", in.TargetTableName != nil) {
		if n := len(*in.TargetTableName); n < 3 || n > 255 {
			return invalid("TableName must be at least 3 characters long and at most 255 characters long")
		}
	}
	c.resourceName("targetTableName", in.TargetTableName)
	c.word("billingModeOverride", in.BillingMode, "PROVISIONED", "PAY_PER_REQUEST")
	c.capacity("provisionedThroughputOverride", in.ProvisionedThroughput)
	for i := range in.GlobalIndexes {
		at := fmt.Sprintf("globalSecondaryIndexOverride.%d.member.", i+1)
		c.override(at, &in.GlobalIndexes[i])
		c.capacity(at+"provisionedThroughput", in.GlobalIndexes[i].ProvisionedThroughput)
	}
	for i := range in.LocalIndexes {
		c.override(fmt.Sprintf("localSecondaryIndexOverride.%d.member.", i+1), &in.LocalIndexes[i])
	}
	if err := c.err(); err != nil {
		return err
	}
	return cmp.Or(in.check(), in.Encryption.check())
}

// capacity checks a provisioned throughput, if there is one.
func (c *constraints) capacity(at string, t *Throughput) {
	if t == nil {
		return
	}
	c.required(at+".writeCapacityUnits", t.Write != nil)
	c.atLeast(at+".writeCapacityUnits", t.Write, 1)
	c.required(at+".readCapacityUnits", t.Read != nil)
	c.atLeast(at+".readCapacityUnits", t.Read, 1)
}

// override checks that an index is described.
func (c *constraints) override(at string, x *IndexInput) {
	c.required(at+"indexName", x.IndexName != nil)
	c.resourceName(at+"indexName", x.IndexName)
	c.required(at+"keySchema", x.HasKeySchema)
	c.required(at+"projection", x.Projection != nil)
}

// restore makes a table of what find comes up with, as the control plane is its own.
func (e *Engine) restore(ctx context.Context, in *RestoreInput,
	find func() (*TableDescription, *restoring, *store.Snapshot, error),
) (*TableDescription, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	d, done, err := e.beginRestore(ctx, in, find)
	if err != nil {
		return nil, err
	}
	await(ctx, e.options.patience, done)
	return d, nil
}

func (e *Engine) beginRestore(ctx context.Context, in *RestoreInput,
	find func() (*TableDescription, *restoring, *store.Snapshot, error),
) (d *TableDescription, done <-chan struct{}, err error) {
	if err := e.lockAdmin(ctx); err != nil {
		return nil, nil, err
	}
	defer e.admin.unlock()
	source, from, view, err := find()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, view.Close())
		}
	}()
	if err := e.checkTarget(*in.TargetTableName); err != nil {
		return nil, nil, err
	}
	now := time.Now()
	r := tableRecord{ID: e.nextTable, IndexIDs: map[string]uint16{}, NextIndexID: 1, Restoring: from}
	if r.Description, err = in.describe(source, e.options.Region, e.options.Account, now); err != nil {
		return nil, nil, err
	}
	e.nextTable++
	r.numberIndexes()
	t, err := e.install(r, nil, e.store.NewBatch(), now)
	if err != nil {
		return nil, nil, fmt.Errorf("restore table %s: %w", r.Description.TableName, err)
	}
	d = t.describe(now) // nobody else changes it yet
	done, ok := e.startRestore(t, view)
	if !ok {
		return nil, nil, errClosed() // it goes on at the next start
	}
	return d, done, nil
}

// checkTarget checks that a table can get a name by a restore. The caller holds admin.
func (e *Engine) checkTarget(name string) error {
	e.mu.RLock()
	t, count := e.tables[name], len(e.tables)
	restores := 0
	for _, t := range e.tables {
		if t.restoring.Load() != nil {
			restores++
		}
	}
	e.mu.RUnlock()
	if t != nil {
		if r := t.restoring.Load(); r != nil {
			if r.Summary.BackupARN != "" {
				return errorf(TypeTableInUse, "Table: %s is already being restored from backup: %s", name, r.Summary.BackupARN)
			}
			return errorf(TypeTableInUse, "Table: %s is already being restored from table: %s", name, r.Summary.TableARN)
		}
	}
	switch {
	case t != nil || e.buried(name) != nil:
		return errorf(TypeTableExists, "Table already exists: %s", name)
	case count >= maxTables:
		return errTooManyTables()
	case restores >= maxCopies:
		return errorf(TypeLimitExceeded, "Subscriber limit exceeded: Only %d restore operations can be done simultaneously", maxCopies)
	}
	return nil
}

// describe returns the description of the table that is made of another one's. It has
// no stream, tags, table class or deletion protection, as on the service.
func (in *RestoreInput) describe(source *TableDescription, region, account string, now time.Time) (TableDescription, error) {
	name := strings.Clone(*in.TargetTableName)
	d := TableDescription{
		TableName:            name,
		TableID:              newUUID(),
		ARN:                  fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, account, name),
		Created:              now.UTC().Truncate(time.Millisecond),
		AttributeDefinitions: slices.Clone(source.AttributeDefinitions),
		KeySchema:            slices.Clone(source.KeySchema),
		SSEEnabled:           source.SSEEnabled,
		SSEKey:               source.SSEKey,
	}
	if in.Encryption != nil {
		d.encrypt(in.Encryption)
	}
	if err := in.bill(&d, source); err != nil {
		return d, err
	}
	var err error
	if d.LocalIndexes, err = chosen(in.LocalIndexes, in.HasLocalIndexes, source.LocalIndexes); err != nil {
		return d, err
	}
	if d.GlobalIndexes, err = chosen(in.GlobalIndexes, in.HasGlobalIndexes, source.GlobalIndexes); err != nil {
		return d, err
	}
	names := map[string]bool{}
	for _, list := range [][]IndexDescription{d.LocalIndexes, d.GlobalIndexes} {
		for i := range list {
			x := &list[i]
			if names[x.IndexName] {
				return d, invalidParameter("Duplicate index name: %s", x.IndexName)
			}
			names[x.IndexName] = true
			x.ARN, x.ItemCount, x.SizeBytes = d.ARN+"/index/"+x.IndexName, 0, 0
		}
	}
	for i := range in.GlobalIndexes {
		x := &in.GlobalIndexes[i]
		if d.onDemand() && x.ProvisionedThroughput != nil {
			return d, in.errProvisionedOverride(" for index " + *x.IndexName)
		}
		most := x.OnDemandThroughput.orNil()
		if most != nil && !d.onDemand() {
			return d, errMaximumOverride(most, " for index "+*x.IndexName)
		}
		if err := most.checkOverride(); err != nil {
			return d, err
		}
	}
	for i := range d.GlobalIndexes {
		if err := d.billRestored(&d.GlobalIndexes[i]); err != nil {
			return d, err
		}
	}
	d.prune()
	return d, nil
}

// bill sets how the table is paid for.
func (in *RestoreInput) bill(d, source *TableDescription) error {
	d.BillingMode = source.BillingMode
	if in.BillingMode != nil {
		d.BillingMode = *in.BillingMode
	}
	most, p := in.OnDemandThroughput.orNil(), in.ProvisionedThroughput
	switch {
	case !d.onDemand() && most != nil:
		return errMaximumOverride(most, "")
	case d.onDemand() && p != nil:
		return in.errProvisionedOverride("")
	case !d.onDemand() && source.onDemand() && p == nil:
		return invalidRequest("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
	}
	if d.onDemand() {
		d.BillingModeChanged = d.Created
		d.OnDemand = source.OnDemand
		if most != nil {
			if err := most.checkOverride(); err != nil {
				return err
			}
			d.OnDemand = source.OnDemand.merge(most, true)
		}
		d.Warm = WarmThroughput{Read: initialReads, Write: initialWrites, Status: "ACTIVE"}
		return nil
	}
	d.Provisioned = ThroughputDescription{Read: source.Provisioned.Read, Write: source.Provisioned.Write}
	if p != nil {
		d.Provisioned = ThroughputDescription{Read: *p.Read, Write: *p.Write}
	}
	d.Warm = WarmThroughput{Read: d.Provisioned.Read, Write: d.Provisioned.Write, Status: "ACTIVE"}
	return nil
}

// billRestored sets how a global index is paid for.
func (d *TableDescription) billRestored(x *IndexDescription) error {
	if d.onDemand() {
		x.Provisioned = ThroughputDescription{}
		x.Warm = WarmThroughput{Read: initialReads, Write: initialWrites, Status: "ACTIVE"}
		return nil
	}
	x.OnDemand = nil
	x.Provisioned = ThroughputDescription{Read: x.Provisioned.Read, Write: x.Provisioned.Write}
	if x.Provisioned.Read == 0 || x.Provisioned.Write == 0 {
		return invalidRequest("Must specify provisioned throughput for index %s", x.IndexName)
	}
	x.Warm = WarmThroughput{Read: x.Provisioned.Read, Write: x.Provisioned.Write, Status: "ACTIVE"}
	return nil
}

// errProvisionedOverride says that a table on demand, or an index of one, gets no throughput.
func (in *RestoreInput) errProvisionedOverride(of string) error {
	if in.BillingMode != nil {
		return invalidRequest("Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST%s", of)
	}
	return invalidRequest("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED%s", of)
}

// errMaximumOverride says that a table that is not on demand, or an index of one, gets no maximum.
func errMaximumOverride(most *Throughput, of string) error {
	return invalidRequest("Cannot override %s for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST%s", most.maximum()[0].name, of)
}

// checkOverride checks the maximum of a restored table or index, which is worded differently for others.
func (t *Throughput) checkOverride() error {
	for _, m := range t.maximum() {
		if m.value == 0 || m.value < -1 {
			return invalidRequest("Requested %s for OnDemandThroughput is outside of valid range", m.name)
		}
	}
	return nil
}

// chosen returns the indexes that a restored table has: those of the source, or those
// that are asked for, which must be like some of the source's.
func chosen(asked []IndexInput, has bool, source []IndexDescription) (list []IndexDescription, err error) {
	if !has {
		return slices.Clone(source), nil
	}
	left := slices.Clone(source) // each index of the source becomes one at most
	for i := range asked {
		in := &asked[i]
		at := slices.IndexFunc(left, func(x IndexDescription) bool { return x.like(in) })
		if at < 0 {
			return nil, invalidRequest("Index %s does not match a secondary index that existed in the source table and cannot be created during the restore operation",
				*in.IndexName)
		}
		x := left[at]
		left = slices.Delete(left, at, at+1)
		x.IndexName = strings.Clone(*in.IndexName)
		if p := in.ProvisionedThroughput; p != nil {
			x.Provisioned = ThroughputDescription{Read: *p.Read, Write: *p.Write}
		}
		if most := in.OnDemandThroughput.orNil(); most != nil {
			x.OnDemand = x.OnDemand.merge(most, true)
		}
		list = append(list, x)
	}
	return list, nil
}

// like reports whether the index has the keys and the projection that are asked for.
func (x *IndexDescription) like(in *IndexInput) bool {
	p := in.Projection
	return slices.Equal(x.KeySchema, in.KeySchema) && p.Type != nil && *p.Type == x.ProjectionType &&
		slices.Equal(slices.Sorted(slices.Values(p.NonKeyAttributes)), slices.Sorted(slices.Values(x.NonKey)))
}
