package main

import (
	"context"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// limits returns what one partition serves, as far as it is not what DynamoDB's do.
func (s *server) limits() heat.Limits {
	return heat.Limits{ReadUnits: float64(s.physics.Partition.Read), WriteUnits: float64(s.physics.Partition.Write)}
}

// fillCapacity adds the capacity and the partitions of tables and indexes to a report of an engine, which sees calls and no descriptions. A
// table that was deleted meanwhile has none.
func fillCapacity(ctx context.Context, e *engine.Engine, report *heat.Report) {
	for i := range report.Resources {
		r := &report.Resources[i]
		d, err := e.DescribeTable(ctx, &engine.TableInput{TableName: &r.Table})
		if err != nil {
			continue
		}
		onDemand := d.BillingMode == "PAY_PER_REQUEST"
		if r.Index == "" {
			r.Sort = sortKeyOf(d.KeySchema)
			r.Capacity = capacityOf(onDemand, d.Provisioned, d.OnDemand, d.Warm)
			r.Capacity.Items, r.Capacity.Bytes = d.ItemCount, d.SizeBytes
		}
		for j := range d.GlobalIndexes {
			if x := &d.GlobalIndexes[j]; x.IndexName == r.Index {
				r.Sort = sortKeyOf(x.KeySchema)
				r.Capacity = capacityOf(onDemand, x.Provisioned, x.OnDemand, x.Warm)
				r.Capacity.Items, r.Capacity.Bytes = x.ItemCount, x.SizeBytes
			}
		}
		if r.Capacity != nil {
			r.Capacity.Partitions = partitionsOf(ctx, e, r.Resource)
		}
	}
}

// sortKeyOf returns the names of the sort key, which are known also if there are none.
func sortKeyOf(schema []engine.KeyElement) []string {
	names := []string{}
	for _, k := range schema {
		if k.KeyType == "RANGE" {
			names = append(names, k.AttributeName)
		}
	}
	return names
}

// partitionsOf returns how many partitions a table or index has now, 0 if the engine has no physics.
func partitionsOf(ctx context.Context, e *engine.Engine, of heat.Resource) int {
	list, err := e.Heat(ctx, of.Table, 0)
	if err != nil {
		return 0 // it was deleted meanwhile
	}
	for i := range list {
		if h := &list[i]; h.Index == of.Index {
			return len(h.Partitions)
		}
	}
	return 0
}

func capacityOf(onDemand bool, provisioned engine.ThroughputDescription, most *engine.Throughput, warm engine.WarmThroughput) *heat.Capacity {
	c := &heat.Capacity{OnDemand: onDemand, WarmReads: warm.Read, WarmWrites: warm.Write}
	switch {
	case !onDemand:
		c.ReadUnits, c.WriteUnits = provisioned.Read, provisioned.Write
	case most != nil: // -1 stands for none
		c.ReadUnits, c.WriteUnits = max(0, orZero(most.Read)), max(0, orZero(most.Write))
	}
	return c
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
