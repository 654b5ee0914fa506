package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// timeToLive reports by which attribute items expire. Collections with Options.Version need it: a delete leaves a tombstone.
func (v *visit) timeToLive(ctx context.Context) {
	limit, cancel := limited(ctx)
	defer cancel()
	out, err := v.client.DescribeTimeToLive(limit, &dynamodb.DescribeTimeToLiveInput{TableName: &v.options.Table})
	if v.denies("ttl", "DescribeTimeToLive", err) || v.failed("ttl", err) {
		return
	}
	on := out.TimeToLiveDescription
	if on != nil && (on.TimeToLiveStatus == types.TimeToLiveStatusEnabled || on.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		v.result("ttl", OK, "", "items expire by the attribute %s", aws.ToString(on.AttributeName))
		return
	}
	for _, c := range v.collections {
		if c.charter.VersionAttribute != "" {
			v.result("ttl", Warning, v.aws("update-time-to-live --time-to-live-specification Enabled=true,AttributeName=NAME")+", with the attribute of Options.TTL",
				"items do not expire, but collection %s has Options.Version: the tombstones of deleted items stay for ever, and reads pay for them", c.name)
			return
		}
	}
	v.result("ttl", OK, "", "items do not expire; no collection that is recorded needs it")
}

// failed reports whether a request failed for another reason than a permission, and adds the result of the check.
func (v *visit) failed(check string, err error) bool {
	switch faultOf(err) {
	case none:
		return false
	case throttled:
		v.throttled = err
	case unsupported:
		v.result(check, OK, "", "the server does not have this")
		return true
	case interrupted:
		v.result(check, Unknown, "", "not checked: %s", cutShort)
		return true
	}
	v.result(check, Unknown, "try again", "not checked: %s", reason(err))
	return true
}

// recovery reports whether the table can be restored to an earlier time.
func (v *visit) recovery(ctx context.Context) {
	limit, cancel := limited(ctx)
	defer cancel()
	out, err := v.client.DescribeContinuousBackups(limit, &dynamodb.DescribeContinuousBackupsInput{TableName: &v.options.Table})
	if v.denies("recovery", "DescribeContinuousBackups", err) || v.failed("recovery", err) {
		return
	}
	if d := out.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil &&
		d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled {
		v.result("recovery", OK, "", "point-in-time recovery is on")
		return
	}
	enable := v.aws("update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true")
	for _, c := range v.collections {
		if c.charter.Movable || c.adaptive() {
			v.result("recovery", Warning, enable, "point-in-time recovery is off: a record of collection %s that somebody deletes or damages could not be restored", c.name)
			return
		}
	}
	v.result("recovery", OK, "", "point-in-time recovery is off; no collection that is recorded depends on control items alone")
}

// stream reports whether writes can be watched.
func (v *visit) stream(context.Context) {
	if v.table == nil {
		v.result("stream", Unknown, seePermissions, needsDescribe)
		return
	}
	if s := v.table.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		v.result("stream", OK, "", "on, with %s: heatsink audit --stream and heatsink top can watch writes", s.StreamViewType)
		return
	}
	if v.report.Endpoint != "" { // maybe an engine that tells its heat by itself
		v.result("stream", OK, "", "off: heatsink audit --stream needs it. Programs do not, nor does heatsink top of a heatsink serve --physics")
		return
	}
	v.result("stream", OK, "", "off: heatsink audit --stream and heatsink top need it, programs do not")
}

// capacity compares what the table takes with what its widest layout is for.
func (v *visit) capacity(context.Context) {
	if v.throttled != nil {
		v.result("capacity", Warning, fmt.Sprintf("find out why: heatsink audit %s --cloudwatch%s", v.options.Table, v.flags()), "requests of the doctor were throttled: %s", reason(v.throttled))
	}
	if v.table == nil {
		v.result("capacity", Unknown, seePermissions, needsDescribe)
		return
	}
	index, shards := v.widestLayout()
	c := heat.CapacityOf(v.table, index)
	where := "the table"
	if index != "" {
		where = "index " + index
	}
	if c == nil {
		v.result("capacity", OK, "", "the server tells no capacity of %s", where)
		return
	}
	text := capacityText(where, c)
	wanted := int64(shards) * heat.PartitionWriteUnits
	switch {
	case shards < 2:
		v.result("capacity", OK, "", "%s", text)
	case c.WriteUnits > 0 && c.WriteUnits <= heat.PartitionWriteUnits:
		v.result("capacity", Warning, "raise its capacity, or use one shard: heatsink plan --help",
			"%s, which one partition takes: %s gain nothing, and reads of them cost more", text, figure.Count(shards, "shard"))
	case c.WarmWrites > 0 && c.WarmWrites < wanted:
		v.result("capacity", Warning, v.warm(index, wanted)+"; or use fewer shards: heatsink plan --help",
			"%s: about %s, so that %s take at most that, and not %s write units a second", text, figure.Count((c.WarmWrites+heat.PartitionWriteUnits-1)/heat.PartitionWriteUnits, "partition"),
			figure.Count(shards, "shard"), figure.Thousands(wanted))
	default:
		v.result("capacity", OK, "", "%s; the widest key has %s", text, figure.Count(shards, "shard"))
	}
}

// warm returns the command that warms a table or an index.
func (v *visit) warm(index string, writes int64) string {
	if index == "" {
		return v.aws(fmt.Sprintf("update-table --warm-throughput WriteUnitsPerSecond=%d", writes))
	}
	return v.aws(fmt.Sprintf(`update-table --global-secondary-index-updates '[{"Update":{"IndexName":%q,"WarmThroughput":{"WriteUnitsPerSecond":%d}}}]'`, index, writes))
}

func capacityText(where string, c *heat.Capacity) string {
	var parts []string
	switch {
	case !c.OnDemand:
		parts = append(parts, fmt.Sprintf("%s is provisioned with %s write and %s read units a second", where, figure.Thousands(c.WriteUnits), figure.Thousands(c.ReadUnits)))
	case c.WriteUnits > 0:
		parts = append(parts, fmt.Sprintf("%s is on demand, up to %s write units a second", where, figure.Thousands(c.WriteUnits)))
	default:
		parts = append(parts, where+" is on demand")
	}
	if c.WarmWrites > 0 {
		parts = append(parts, fmt.Sprintf("warm for %s write units a second", figure.Thousands(c.WarmWrites)))
	}
	return strings.Join(parts, ", ")
}

// widestLayout returns the largest number of shards that a key is known to have, and in which index, "" for the table.
func (v *visit) widestLayout() (index string, shards int) {
	consider := func(of string, n int) {
		if n > shards {
			index, shards = of, n
		}
	}
	for _, c := range v.collections {
		of := c.charter.Index.Name
		switch {
		case c.passage != nil:
			consider(of, c.passage.Now.Layout.Shards)
			for _, n := range c.passage.Now.Widths {
				consider(of, n)
			}
			for _, n := range c.passage.Now.Prefixes {
				consider(of, n)
			}
		case c.charter.Widths == charter.Fixed:
			consider(of, c.charter.Layout.Shards)
		}
	}
	for of, told := range v.options.Layouts {
		consider(of, told.Layout.Shards)
	}
	consider(v.widestIndex, v.widest)
	return index, shards
}
