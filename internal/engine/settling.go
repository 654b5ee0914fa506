package engine

import (
	"cmp"
	"slices"
	"time"
)

// settling is a change that is done, but shows as going on for Options.StatusDelay.
// Meanwhile it stands in the way of others, as on the service. It is not stored:
// after a restart it is over.
type settling struct {
	until   time.Time
	iops    bool     // the table's capacity or billing mode
	stream  string   // ENABLE or DISABLE; empty: not the stream
	label   string   // the stream's
	indexes []string // those whose throughput changes
	sse     bool     // encryption
	class   string   // the new table class; empty: not the class
}

// settles are the changes that show as going on.
func (t *table) settles() (list []settling) {
	if len(t.settling) == 0 {
		return nil
	}
	now := time.Now()
	for _, s := range t.settling {
		if now.Before(s.until) {
			list = append(list, s)
		}
	}
	return list
}

// settle notes a change that shows as going on, of a table that was what d says. The
// caller holds the table for writing.
func (e *Engine) settle(t *table, in *UpdateTableInput, d *TableDescription) {
	if e.options.StatusDelay == 0 {
		return
	}
	s := settling{until: time.Now().Add(e.options.StatusDelay), iops: in.ProvisionedThroughput != nil || in.BillingMode != nil, sse: in.Encryption != nil}
	if in.TableClass != nil && *in.TableClass != cmp.Or(d.TableClass, "STANDARD") {
		s.class = *in.TableClass
	}
	if in.Stream != nil {
		s.stream, s.label = "DISABLE", t.record.Description.LatestStreamLabel
		if *in.Stream.Enabled {
			s.stream = "ENABLE"
		}
	}
	for _, u := range in.IndexUpdates {
		if u.Update != nil && (u.Update.ProvisionedThroughput != nil || u.Update.OnDemandThroughput != nil) {
			s.indexes = append(s.indexes, *u.Update.IndexName)
		}
	}
	if s.iops || s.stream != "" || s.indexes != nil || s.sse || s.class != "" {
		t.settling = append(t.settles(), s)
	}
}

// settling describes the changes that show as going on. What an index is that is added or removed is told after that.
func (d *TableDescription) settling(list []settling) {
	for _, s := range list {
		if s.iops || s.stream != "" || s.class != "" {
			d.Status = "UPDATING"
		}
		d.SSEChanging = d.SSEChanging || s.sse
		for i := range d.GlobalIndexes {
			if x := &d.GlobalIndexes[i]; slices.Contains(s.indexes, x.IndexName) {
				x.Status = "UPDATING"
			}
		}
	}
}

// checkSettling checks the request against the changes that show as going on.
func (in *UpdateTableInput) checkSettling(t *table) error {
	for _, s := range t.settles() {
		if err := s.check(t, in); err != nil {
			return err
		}
	}
	return nil
}

func (s *settling) check(t *table, in *UpdateTableInput) error {
	iops := in.ProvisionedThroughput != nil || in.BillingMode != nil && (*in.BillingMode == "PAY_PER_REQUEST") != t.record.Description.onDemand()
	online := slices.ContainsFunc(in.IndexUpdates, func(u IndexUpdate) bool { return u.Update == nil })
	for i := range in.IndexUpdates {
		if name := *in.IndexUpdates[i].action().IndexName; slices.Contains(s.indexes, name) {
			return inUse("Index is being updated.  Table: %s Index: %s", t.name, name)
		}
	}
	const ofStream = " Table: %s Stream: %s Operation: %s"
	const ofClass = " Table: %s TableClassUpdateInProgress: %s"
	maximum := in.OnDemandThroughput.orNil() != nil
	switch changing, moving := s.stream != "", s.class != ""; {
	case s.sse && in.Encryption != nil && !in.Encryption.on():
		return inUse("Server-Side Encryption is still being updated")
	case moving && in.TableClass != nil:
		return inUse("Can't update table class when a table class update is in progress."+ofClass, t.name, s.class)
	case moving && in.Stream != nil:
		return inUse("Can't change stream status when a table class update is in progress."+ofClass, t.name, s.class)
	case moving && online:
		return inUse("Can't create or delete an index when a table class update is in progress."+ofClass, t.name, s.class)
	case moving && maximum:
		return inUse("OnDemandThroughput cannot be updated while TableClass update is in progress. TableClassUpdateInProgress: %s", s.class)
	case changing && in.TableClass != nil:
		return inUse("Can't update table class when stream status is being updated."+ofStream, t.name, s.label, s.stream)
	case changing && maximum:
		return inUse("OnDemandThroughput cannot be updated while stream status update is in progress")
	case s.iops && maximum && !iops:
		return inUse("OnDemandThroughput cannot be updated while BillingMode update is in progress")
	case s.iops && iops:
		return inUse("Table IOPS are currently being updated. Table: %s", t.name)
	case s.iops && in.Stream != nil:
		return inUse("Can't enable or disable stream while table IOPS are being updated. Table: %s", t.name)
	case s.iops && online:
		return inUse("Can't create or delete indexes while table IOPS are being updated. Table: %s", t.name)
	case changing && iops:
		return inUse("Can't change table IOPS when stream status is being updated."+ofStream, t.name, s.label, s.stream)
	case changing && in.Stream != nil:
		return inUse("A stream status change is currently in progress."+ofStream, t.name, s.label, s.stream)
	case changing && online:
		return inUse("Can't create or delete an index when stream status is being updated."+ofStream, t.name, s.label, s.stream)
	}
	return nil
}

// checkDrop checks that no change stands in the way of deleting the table.
func (t *table) checkDrop() error {
	list := t.settles()
	any := func(is func(settling) bool) bool { return slices.ContainsFunc(list, is) }
	switch {
	case t.creating():
		return errBeingCreated(t.name)
	case t.record.Description.DeletionProtection:
		return invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	case t.record.Work != nil || any(func(s settling) bool { return s.indexes != nil }):
		return inUse("Cannot delete table while indexes are being created, updated, or deleted.")
	case any(func(s settling) bool { return s.stream != "" }):
		return inUse("Cannot delete table while stream is being enabled/disabled.")
	case len(list) > 0:
		return inUse("Table: %s is in the process of being updated.", t.name)
	}
	return nil
}

// grave is a table that is deleted, but shows as being deleted for a while.
type grave struct {
	description *TableDescription
	until       time.Time
}

// bury makes a deleted table show for a while. The caller holds e.mu.
func (e *Engine) bury(t *table, d *TableDescription) {
	now := time.Now()
	for name, g := range e.graves {
		if !now.Before(g.until) {
			delete(e.graves, name)
		}
	}
	if e.options.StatusDelay > 0 {
		e.graves[t.name] = grave{d, now.Add(e.options.StatusDelay)}
	}
}

// buried returns the description of a table that shows as being deleted, or nil.
func (e *Engine) buried(name string) *TableDescription {
	if e.options.StatusDelay == 0 {
		return nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if g, found := e.graves[name]; found && time.Now().Before(g.until) {
		return new(*g.description)
	}
	return nil
}
