package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// validate checks an UpdateTable as far as that can be done without the table.
func (in *UpdateTableInput) validate() error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	var c constraints
	in.constrain(&c)
	if err := c.err(); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	for _, check := range []func() error{
		in.checkPresence,
		in.checkIndexUpdates,
		in.checkAlone,
		func() error { return checkTableClass(in.TableClass) },
		in.checkBilling,
		in.checkStream,
		func() error { return in.Encryption.check() },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *UpdateTableInput) constrain(c *constraints) {
	c.word("billingMode", in.BillingMode, "PROVISIONED", "PAY_PER_REQUEST")
	c.provisioned("provisionedThroughput", in.ProvisionedThroughput)
	c.definitions(in.AttributeDefinitions)
	for i, u := range in.IndexUpdates {
		at := fmt.Sprintf("globalSecondaryIndexUpdates.%d.member", i+1)
		if u.Create != nil {
			c.newIndex(at+".create", u.Create, 2*maxPartsOfKind)
			c.provisioned(at+".create.provisionedThroughput", u.Create.ProvisionedThroughput)
		}
		if u.Update != nil {
			c.namedIndex(at+".update", u.Update)
			c.provisioned(at+".update.provisionedThroughput", u.Update.ProvisionedThroughput)
		}
		if u.Delete != nil {
			c.namedIndex(at+".delete", u.Delete)
		}
	}
	c.stream(in.Stream)
	c.encryption("sSESpecification", in.Encryption)
}

func (c *constraints) namedIndex(at string, x *IndexInput) {
	if c.required(at+".indexName", x.IndexName != nil) {
		c.resourceName(at+".indexName", x.IndexName)
	}
}

// checkPresence checks that the request asks for a change at all.
func (in *UpdateTableInput) checkPresence() error {
	other := in.ProvisionedThroughput != nil || in.BillingMode != nil || in.Stream != nil || in.DeletionProtection != nil ||
		in.OnDemandThroughput.orNil() != nil || in.WarmThroughput.orNil() != nil || in.TableClass != nil ||
		in.Encryption != nil
	if !other && len(in.IndexUpdates) == 0 {
		return invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, " +
			"ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, " +
			"OnDemandThroughput, WarmThroughput or TableClass is required")
	}
	if in.HasIndexUpdates && len(in.IndexUpdates) == 0 {
		return invalidParameter("List of GlobalSecondaryIndexUpdates is empty")
	}
	return nil
}

func (in *UpdateTableInput) checkIndexUpdates() error {
	seen := map[string]bool{}
	for _, u := range in.IndexUpdates {
		var actions []*IndexInput
		for _, x := range []*IndexInput{u.Create, u.Update, u.Delete} {
			if x != nil {
				actions = append(actions, x)
			}
		}
		if len(actions) == 0 {
			return invalidParameter("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if len(actions) > 1 {
			return invalidParameter("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
		}
		name := *actions[0].IndexName
		if seen[name] {
			return invalidParameter("Only one global secondary index update per index is allowed simultaneously. Index: %s", name)
		}
		seen[name] = true
		if w := actions[0].WarmThroughput; u.Update != nil && w != nil && w.orNil() == nil {
			return invalidParameter("WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: %s", name)
		}
	}
	return nil
}

// checkAlone checks that the changes asked for may come together. Most may not.
func (in *UpdateTableInput) checkAlone() error {
	iops := in.ProvisionedThroughput != nil || in.BillingMode != nil && *in.BillingMode == "PROVISIONED"
	stream, maximum := in.Stream != nil, in.OnDemandThroughput.orNil() != nil
	class, protection, warm := in.TableClass != nil, in.DeletionProtection != nil, in.WarmThroughput.orNil() != nil
	encryption := in.Encryption != nil
	var kinds int
	for _, there := range []bool{
		in.ProvisionedThroughput != nil || in.BillingMode != nil, stream, maximum, encryption, class, protection, warm, len(in.IndexUpdates) > 0,
	} {
		if there {
			kinds++
		}
	}
	creates := slices.ContainsFunc(in.IndexUpdates, func(u IndexUpdate) bool { return u.Create != nil })
	alters := creates || slices.ContainsFunc(in.IndexUpdates, func(u IndexUpdate) bool { return u.Delete != nil })
	switch {
	case encryption && kinds > 1:
		return invalidParameter("Server-Side Encryption modification must be the only operation in the request")
	case class && kinds > 1:
		return invalidParameter("TableClass modification must be the only operation in the request")
	case protection && kinds > 1:
		return invalidParameter("DeletionProtection modification must be the only operation in the request")
	case warm && creates:
		return invalidParameter("Create global secondary index cannot be specified when updating WarmThroughput")
	case warm && kinds > 1:
		return invalidParameter("WarmThroughput must be the only operation in the request")
	case maximum && (stream || len(in.IndexUpdates) > 0):
		return invalidParameter("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
	case stream && iops:
		return invalidParameter("You cannot modify stream status while updating table IOPS")
	case alters && iops:
		return invalidParameter("You cannot create or delete index while updating table IOPS")
	case alters && stream:
		return invalidParameter("You cannot create or delete index while changing stream status")
	}
	return nil
}

func (in *UpdateTableInput) checkBilling() error {
	if in.BillingMode != nil {
		onDemand := *in.BillingMode == "PAY_PER_REQUEST"
		if onDemand && in.ProvisionedThroughput != nil {
			return errProvisionedOnDemand()
		}
		if !onDemand && in.ProvisionedThroughput == nil {
			return invalidParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
		}
	}
	return in.ProvisionedThroughput.checkBounds()
}

func (in *UpdateTableInput) checkStream() error {
	switch {
	case in.Stream == nil:
	case *in.Stream.Enabled && in.Stream.ViewType == nil:
		return invalidParameter("If stream is being enabled then UpdateViewType is required")
	case !*in.Stream.Enabled && in.Stream.ViewType != nil:
		return invalidParameter("If stream is being disabled, then UpdateViewType must not be specified")
	}
	return nil
}

// checkAgainst checks the request against the table. The caller holds it.
func (in *UpdateTableInput) checkAgainst(t *table) error {
	if err := cmp.Or(in.checkWork(t), in.checkSettling(t)); err != nil {
		return err
	}
	d := &t.record.Description
	onDemand := d.onDemand()
	if in.BillingMode != nil {
		onDemand = *in.BillingMode == "PAY_PER_REQUEST"
	}
	if onDemand && in.ProvisionedThroughput != nil {
		return errProvisionedOnDemand()
	}
	if err := checkNewMaximum(in.OnDemandThroughput, onDemand, "", "table"); err != nil {
		return err
	}
	if p := in.ProvisionedThroughput; p != nil && !d.onDemand() && *p.Read == d.Provisioned.Read && *p.Write == d.Provisioned.Write {
		return errUnchanged("the table", "the table", &d.Provisioned, p)
	}
	if err := d.Warm.checkRaise(in.WarmThroughput, "table"); err != nil {
		return err
	}
	if in.Stream != nil && *in.Stream.Enabled && t.stream != nil {
		return invalid("Table already has an enabled stream: TableName: %s", t.name)
	}
	if in.Stream != nil && !*in.Stream.Enabled && t.stream == nil {
		return invalid("Table has no stream to disable: TableName: %s", t.name)
	}
	if err := cmp.Or(in.Encryption.checkChange(d), in.checkOnline()); err != nil {
		return err
	}
	for i := range in.IndexUpdates {
		if err := in.checkIndexUpdate(t, &in.IndexUpdates[i], onDemand); err != nil {
			return err
		}
	}
	if d.onDemand() && !onDemand {
		var without []string
		for _, x := range t.record.globals() {
			if !in.updatesIndex(x.IndexName) {
				without = append(without, x.IndexName)
			}
		}
		if without != nil {
			return invalidParameter("ProvisionedThroughput must be specified for index: %s", strings.Join(without, ","))
		}
	}
	return nil
}

// checkOnline checks that the request adds or removes one index at most.
func (in *UpdateTableInput) checkOnline() error {
	online := 0
	for _, u := range in.IndexUpdates {
		if u.Update == nil {
			online++
		}
	}
	if online > 1 {
		return errOnlineIndex()
	}
	return nil
}

func (in *UpdateTableInput) checkIndexUpdate(t *table, u *IndexUpdate, onDemand bool) error {
	switch {
	case u.Create != nil:
		return in.checkAdded(t, u.Create, onDemand)
	case u.Delete != nil:
		return t.checkGlobal(*u.Delete.IndexName, "delete")
	}
	d := &t.record.Description
	name, p := *u.Update.IndexName, u.Update.ProvisionedThroughput
	if p != nil && (*p.Read > maxUnits || *p.Write > maxUnits) {
		return errIndexUpdateBlocked()
	}
	if err := t.checkGlobal(name, "update"); err != nil {
		return err
	}
	x := t.record.global(name)
	others := u.Update.OnDemandThroughput.orNil() != nil || u.Update.WarmThroughput != nil
	switch {
	case onDemand && (p != nil || !others):
		return invalidParameter("The only Updates for index: %s when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput", name)
	case p == nil && !others:
		return invalidParameter("Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: %s", name)
	case p != nil && !d.onDemand() && *p.Read == x.Provisioned.Read && *p.Write == x.Provisioned.Write:
		return errUnchanged("the index "+name, "index "+name, &x.Provisioned, p)
	}
	if err := checkNewMaximum(u.Update.OnDemandThroughput, onDemand, " for index : "+name, "index : "+name); err != nil {
		return err
	}
	return x.Warm.checkRaise(u.Update.WarmThroughput, "index "+name)
}

func errIndexUpdateBlocked() *Error {
	return invalid("This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate")
}

// checkGlobal checks that there is a global index of that name.
func (t *table) checkGlobal(name, action string) error {
	switch x := t.index(name); {
	case x == nil:
		return errorf(TypeResourceNotFound, "Requested resource not found: Index %s for table %s", name, t.name)
	case x.local:
		return invalid("Cannot %s an index that is not a GlobalSecondaryIndex: %s", action, name)
	}
	return nil
}

func errUnchanged(subject, of string, now *ThroughputDescription, to *Throughput) *Error {
	return invalid("The provisioned throughput for %s will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for %[2]s: %[3]d. Requested ReadCapacityUnits: %[4]d. "+
		"Current WriteCapacityUnits provisioned for %[2]s: %[5]d. Requested WriteCapacityUnits: %[6]d. "+
		"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		subject, of, now.Read, *to.Read, now.Write, *to.Write)
}

// checkNewMaximum checks an OnDemandThroughput, in which -1 removes a maximum.
func checkNewMaximum(t *Throughput, onDemand bool, of, where string) error {
	for _, m := range t.maximum() {
		if !onDemand {
			return invalidParameter("%s for OnDemandThroughput%s cannot be specified when the table BillingMode is PROVISIONED", m.name, of)
		}
	}
	for _, m := range t.maximum() {
		if m.value == 0 || m.value < -1 {
			return errMaximumRange(m.name, where)
		}
	}
	return nil
}

// checkRaise checks that a new warm throughput is not less than the present one.
func (w *WarmThroughput) checkRaise(to *Throughput, where string) error {
	for _, m := range to.members("Read", "Write") {
		now := map[string]int64{"Read": w.Read, "Write": w.Write}[m.name]
		if m.value < now {
			return invalidParameter("Requested %sUnitsPerSecond for WarmThroughput for %s is lower than current WarmThroughput, "+
				"decreasing WarmThroughput is not supported", m.name, where)
		}
	}
	return nil
}
