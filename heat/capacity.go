package heat

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CapacityOf returns the configured capacity of a table or of one of its global indexes, from its description; nil if the
// table has no such index.
func CapacityOf(d *types.TableDescription, index string) *Capacity {
	own := tableCapacity(d)
	if index == "" {
		return own
	}
	for i := range d.GlobalSecondaryIndexes {
		if aws.ToString(d.GlobalSecondaryIndexes[i].IndexName) == index {
			return indexCapacity(own, &d.GlobalSecondaryIndexes[i])
		}
	}
	return nil
}

func tableCapacity(d *types.TableDescription) *Capacity {
	c := &Capacity{Items: aws.ToInt64(d.ItemCount), Bytes: aws.ToInt64(d.TableSizeBytes)}
	c.OnDemand = d.BillingModeSummary != nil && d.BillingModeSummary.BillingMode == types.BillingModePayPerRequest
	if w := d.WarmThroughput; w != nil {
		c.WarmReads, c.WarmWrites = aws.ToInt64(w.ReadUnitsPerSecond), aws.ToInt64(w.WriteUnitsPerSecond)
	}
	c.provisioned(d.ProvisionedThroughput, d.OnDemandThroughput)
	return c
}

func indexCapacity(table *Capacity, d *types.GlobalSecondaryIndexDescription) *Capacity {
	c := &Capacity{OnDemand: table.OnDemand, Items: aws.ToInt64(d.ItemCount), Bytes: aws.ToInt64(d.IndexSizeBytes)}
	if w := d.WarmThroughput; w != nil {
		c.WarmReads, c.WarmWrites = aws.ToInt64(w.ReadUnitsPerSecond), aws.ToInt64(w.WriteUnitsPerSecond)
	}
	c.provisioned(d.ProvisionedThroughput, d.OnDemandThroughput)
	return c
}

// provisioned fills in the provisioned capacity, or the on-demand maximum; -1 stands for none.
func (c *Capacity) provisioned(p *types.ProvisionedThroughputDescription, most *types.OnDemandThroughput) {
	switch {
	case !c.OnDemand && p != nil:
		c.ReadUnits, c.WriteUnits = aws.ToInt64(p.ReadCapacityUnits), aws.ToInt64(p.WriteCapacityUnits)
	case c.OnDemand && most != nil:
		c.ReadUnits = max(0, aws.ToInt64(most.MaxReadRequestUnits))
		c.WriteUnits = max(0, aws.ToInt64(most.MaxWriteRequestUnits))
	}
}
