package engine

// checkBilling checks the table's throughputs against its billing mode.
func (in *CreateTableInput) checkBilling() error {
	p := in.ProvisionedThroughput
	if in.onDemand() && p != nil {
		return errProvisionedOnDemand()
	}
	if !in.onDemand() && p == nil {
		return invalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	if err := p.checkBounds(); err != nil {
		return err
	}
	if err := in.checkMaximum(in.OnDemandThroughput, "", "table"); err != nil {
		return err
	}
	return in.checkWarm(in.WarmThroughput, p, "table")
}

func errProvisionedOnDemand() *Error {
	return invalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
}

// checkBounds refuses capacity units beyond reason.
func (t *Throughput) checkBounds() error {
	if t == nil {
		return nil
	}
	if *t.Read > maxUnits {
		return invalid("Given value %d for ReadCapacityUnits is out of bounds", *t.Read)
	}
	if *t.Write > maxUnits {
		return invalid("Given value %d for WriteCapacityUnits is out of bounds", *t.Write)
	}
	return nil
}

func (in *CreateTableInput) checkIndexBilling(x *IndexInput) error {
	name := *x.IndexName
	if in.onDemand() && x.ProvisionedThroughput != nil {
		return invalidParameter("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", name)
	}
	if !in.onDemand() && x.ProvisionedThroughput == nil {
		return invalidParameter("ProvisionedThroughput is not specified for index: %s", name)
	}
	if err := x.ProvisionedThroughput.checkBounds(); err != nil {
		return err
	}
	if err := in.checkMaximum(x.OnDemandThroughput, " for index: "+name, "index : "+name); err != nil {
		return err
	}
	return in.checkWarm(x.WarmThroughput, x.ProvisionedThroughput, "index "+name)
}

// members returns a throughput's members that are there, the reads first, by the
// names that messages give them.
func (t *Throughput) members(read, write string) (list []member) {
	if t != nil && t.Read != nil {
		list = append(list, member{read, *t.Read})
	}
	if t != nil && t.Write != nil {
		list = append(list, member{write, *t.Write})
	}
	return list
}

type member struct {
	name  string
	value int64
}

func (t *Throughput) maximum() []member {
	return t.members("MaxReadRequestUnits", "MaxWriteRequestUnits")
}

// checkMaximum checks an OnDemandThroughput.
func (in *CreateTableInput) checkMaximum(t *Throughput, of, where string) error {
	for _, m := range t.maximum() {
		if !in.onDemand() {
			return invalidParameter("%s for OnDemandThroughput%s cannot be specified when table BillingMode is PROVISIONED.", m.name, of)
		}
	}
	for _, m := range t.maximum() {
		if m.value < 1 {
			return errMaximumRange(m.name, where)
		}
	}
	return nil
}

func errMaximumRange(name, where string) *Error {
	return invalidParameter("Requested %s for OnDemandThroughput for %s is outside of valid range", name, where)
}

const initialThroughputDoc = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"

// checkWarm checks a WarmThroughput: what a table has from the start is the
// least.
func (in *CreateTableInput) checkWarm(warm, p *Throughput, where string) error {
	for _, m := range warm.members("Read", "Write") {
		if in.onDemand() {
			least := map[string]int64{"Read": initialReads, "Write": initialWrites}[m.name]
			if m.value < least {
				return invalidParameter("Requested %sUnitsPerSecond for WarmThroughput for %s is lower than initial throughput for OnDemand. See: %s",
					m.name, where, initialThroughputDoc)
			}
			continue
		}
		least := map[string]*int64{"Read": p.Read, "Write": p.Write}[m.name]
		if m.value < *least {
			return invalidParameter("Requested %sUnitsPerSecond for WarmThroughput for %s is lower than %sCapacityUnits of ProvisionedThroughput",
				m.name, where, m.name)
		}
	}
	return nil
}
