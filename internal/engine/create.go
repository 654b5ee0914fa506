package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// A new table on demand takes this much at once.
const (
	initialReads  = 12_000
	initialWrites = 4_000
)

// CreateTable creates a table. It is answered as being created, and is there
// when the answer is, or Options.StatusDelay later.
func (e *Engine) CreateTable(ctx context.Context, in *CreateTableInput) (*TableDescription, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	if err := e.lockAdmin(ctx); err != nil {
		return nil, err
	}
	defer e.admin.unlock()
	name := nameOf(*in.TableName)
	e.mu.RLock()
	old, count := e.tables[name], len(e.tables)
	e.mu.RUnlock()
	if old != nil && old.restoring.Load() != nil {
		return nil, inUse("Table is being used: %s", name)
	}
	if old != nil && old.creating() {
		return nil, errBeingCreated(name)
	}
	if old != nil || e.buried(name) != nil {
		return nil, errorf(TypeResourceInUse, "Table already exists: %s", name)
	}
	if count >= maxTables {
		return nil, errTooManyTables()
	}
	now := time.Now()
	t, err := e.create(in, now)
	if err != nil {
		return nil, fmt.Errorf("create table %s: %w", name, err)
	}
	d := t.describe(now)
	d.creating(in)
	return d, nil
}

func errTooManyTables() *Error {
	return errorf(TypeLimitExceeded, "Subscriber limit exceeded: There is a limit of %d tables per subscriber", maxTables)
}

// create makes the table, stores it and makes it known.
func (e *Engine) create(in *CreateTableInput, now time.Time) (*table, error) {
	r := tableRecord{ID: e.nextTable, IndexIDs: map[string]uint16{}, NextIndexID: 1}
	e.nextTable++
	r.Description = in.describe(e.options.Region, e.options.Account, now)
	if err := r.tag(in.Tags); err != nil {
		return nil, err // never: they were checked
	}
	r.numberIndexes()
	b := e.store.NewBatch()
	var s *stream
	if in.Stream != nil && *in.Stream.Enabled {
		s = e.createStream(&r.Description, *in.Stream.ViewType, now)
		if err := r.attach(s).save(b); err != nil {
			b.Discard()
			return nil, err
		}
	}
	return e.install(r, s, b, now)
}

// numberIndexes gives the indexes of a new table their numbers.
func (r *tableRecord) numberIndexes() {
	for _, list := range [][]IndexDescription{r.Description.LocalIndexes, r.Description.GlobalIndexes} {
		for _, x := range list {
			r.IndexIDs[x.IndexName] = r.NextIndexID
			r.NextIndexID++
		}
	}
}

// install stores a new table, along with what is in the batch, and makes it known.
func (e *Engine) install(r tableRecord, s *stream, b *store.Batch, now time.Time) (*table, error) {
	t := newTable(r)
	t.stream = s
	if e.options.StatusDelay > 0 {
		t.usable = now.Add(e.options.StatusDelay)
	}
	if err := e.newPartitions(t, now); err != nil {
		b.Discard()
		return nil, err
	}
	e.at(staged)
	if err := t.save(b); err != nil {
		b.Discard()
		return nil, err
	}
	if err := b.Commit(); err != nil {
		t.dropPartitions()
		return nil, err
	}
	e.mu.Lock()
	e.tables[t.name] = t
	e.mu.Unlock()
	if s != nil {
		e.addStream(s)
	}
	return t, nil
}

// attach makes the stream the table's and returns what is to be saved of it.
func (r *tableRecord) attach(s *stream) *streamRecord {
	m := s.meta.Load()
	r.StreamID = m.ID
	r.Description.StreamViewType = m.ViewType
	r.Description.LatestStreamARN, r.Description.LatestStreamLabel = m.ARN, m.Label
	return m
}

// creating turns a description into that of a table that is being created, of
// which the service does not tell what it has not been given.
func (d *TableDescription) creating(in *CreateTableInput) {
	d.Status = "CREATING"
	d.BillingModeChanged = time.Time{}
	d.Warm.Status = "UPDATING"
	if in.WarmThroughput.orNil() == nil {
		d.Warm = WarmThroughput{}
	}
	for i := range d.GlobalIndexes {
		d.GlobalIndexes[i].Status = "CREATING"
		d.GlobalIndexes[i].Warm = WarmThroughput{}
	}
}

// describe returns the description of the table that was asked for.
func (in *CreateTableInput) describe(region, account string, now time.Time) TableDescription {
	name := nameOf(*in.TableName)
	d := TableDescription{
		TableName:            name,
		TableID:              newUUID(),
		ARN:                  fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, account, name),
		Created:              now.UTC().Truncate(time.Millisecond),
		AttributeDefinitions: slices.Clone(in.AttributeDefinitions),
		KeySchema:            in.KeySchema,
		OnDemand:             in.OnDemandThroughput.orNil(),
		DeletionProtection:   in.DeletionProtection != nil && *in.DeletionProtection,
	}
	d.encrypt(in.Encryption)
	sortDefinitions(d.AttributeDefinitions)
	if in.TableClass != nil {
		d.TableClass = *in.TableClass
	}
	if in.onDemand() {
		d.BillingMode, d.BillingModeChanged = "PAY_PER_REQUEST", d.Created
	}
	d.Provisioned, d.Warm = in.throughput(in.ProvisionedThroughput, in.WarmThroughput)
	for i := range in.LocalIndexes {
		d.LocalIndexes = append(d.LocalIndexes, in.LocalIndexes[i].describe(d.ARN))
	}
	for i := range in.GlobalIndexes {
		x := in.GlobalIndexes[i].describe(d.ARN)
		x.Provisioned, x.Warm = in.throughput(in.GlobalIndexes[i].ProvisionedThroughput, in.GlobalIndexes[i].WarmThroughput)
		x.OnDemand = in.GlobalIndexes[i].OnDemandThroughput.orNil()
		d.GlobalIndexes = append(d.GlobalIndexes, x)
	}
	return d
}

func (in *CreateTableInput) onDemand() bool {
	return in.BillingMode != nil && *in.BillingMode == "PAY_PER_REQUEST"
}

// throughput returns what a new table or index can take.
func (in *CreateTableInput) throughput(p, warm *Throughput) (ThroughputDescription, WarmThroughput) {
	var provisioned ThroughputDescription
	w := WarmThroughput{Read: initialReads, Write: initialWrites, Status: "ACTIVE"}
	if !in.onDemand() {
		provisioned.Read, provisioned.Write = *p.Read, *p.Write
		w.Read, w.Write = *p.Read, *p.Write
	}
	w.raise(warm)
	return provisioned, w
}

// raise lifts the warm throughput to what was asked for.
func (w *WarmThroughput) raise(to *Throughput) {
	if to != nil && to.Read != nil {
		w.Read = max(w.Read, *to.Read)
	}
	if to != nil && to.Write != nil {
		w.Write = max(w.Write, *to.Write)
	}
}

// orNil returns nil for a throughput without members.
func (t *Throughput) orNil() *Throughput {
	if t == nil || t.Read == nil && t.Write == nil {
		return nil
	}
	return t
}

// describe returns what an index's description holds of its definition.
func (x *IndexInput) describe(tableARN string) IndexDescription {
	return IndexDescription{
		IndexName:      *x.IndexName,
		ARN:            tableARN + "/index/" + *x.IndexName,
		KeySchema:      x.KeySchema,
		ProjectionType: *x.Projection.Type,
		NonKey:         slices.Sorted(slices.Values(x.Projection.NonKeyAttributes)),
	}
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	return formatUUID(u)
}
