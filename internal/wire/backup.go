package wire

import (
	"math"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

func (r *request) createBackup(in *engine.CreateBackupInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "BackupName":
			in.BackupName = r.optString()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

// backup reads a request that only names a backup.
func (r *request) backup(in *engine.BackupInput) *engine.Request {
	for name := range r.Members(&requestType) {
		if name == "BackupArn" {
			in.BackupARN = r.optString()
		} else {
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) listBackups(in *engine.ListBackupsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "BackupType":
			in.Type = r.optString()
		case "TimeRangeLowerBound":
			in.From = r.optTime()
		case "TimeRangeUpperBound":
			in.To = r.optTime()
		case "ExclusiveStartBackupArn":
			in.ExclusiveStart = r.optString()
		case "Limit":
			in.Limit = r.optInteger()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

// optTime reads a time in seconds since 1970, of which milliseconds count.
func (r *request) optTime() *time.Time {
	const most = 1 << 40 // seconds: far from any that matters, and no overflow
	seconds := min(max(r.DoubleOf(&dateType), -most), most)
	return new(time.UnixMilli(int64(math.Round(seconds * 1000))))
}

func (a *answer) createBackup(b *engine.Backup) {
	a.object("BackupDetails")
	a.backupDetails(b, "CREATING")
	a.end('}')
}

func (a *answer) backupDetails(b *engine.Backup, status string) {
	a.string("BackupArn", b.ARN)
	a.string("BackupName", b.Name)
	a.int("BackupSizeBytes", b.Table.SizeBytes)
	a.string("BackupStatus", status)
	a.string("BackupType", b.Type)
	a.optTime("BackupCreationDateTime", b.Created)
	a.optTime("BackupExpiryDateTime", b.Expires)
}

func (a *answer) backup(b *engine.Backup) {
	a.object("BackupDescription")
	a.object("BackupDetails")
	a.backupDetails(b, b.Status)
	a.end('}')
	a.object("SourceTableDetails")
	a.sourceTable(&b.Table)
	a.end('}')
	a.object("SourceTableFeatureDetails")
	a.sourceFeatures(b)
	a.end('}')
	a.end('}')
}

func (a *answer) sourceTable(t *engine.TableDescription) {
	a.string("TableName", t.TableName)
	a.string("TableId", t.TableID)
	a.string("TableArn", t.ARN)
	a.int("TableSizeBytes", t.SizeBytes)
	a.keySchema(t.KeySchema)
	a.optTime("TableCreationDateTime", t.Created)
	a.throughput(&t.Provisioned)
	a.onDemand(t.OnDemand)
	a.int("ItemCount", t.ItemCount)
	mode := "PROVISIONED"
	if t.BillingMode != "" {
		mode = t.BillingMode
	}
	a.string("BillingMode", mode)
}

// throughput writes a provisioned throughput without its history.
func (a *answer) throughput(t *engine.ThroughputDescription) {
	a.object("ProvisionedThroughput")
	a.int("ReadCapacityUnits", t.Read)
	a.int("WriteCapacityUnits", t.Write)
	a.end('}')
}

// sourceFeatures writes what the table had, and nothing of what it had not.
func (a *answer) sourceFeatures(b *engine.Backup) {
	t := &b.Table
	a.sourceIndexes("LocalSecondaryIndexes", t.LocalIndexes, false)
	a.sourceIndexes("GlobalSecondaryIndexes", t.GlobalIndexes, true)
	if t.StreamViewType != "" {
		a.object("StreamDescription")
		a.bool("StreamEnabled", true)
		a.string("StreamViewType", t.StreamViewType)
		a.end('}')
	}
	if b.TTL != "" {
		a.describeTimeToLive(&engine.TimeToLive{Status: "ENABLED", AttributeName: b.TTL})
	}
	a.encryption(t)
}

func (a *answer) sourceIndexes(name string, list []engine.IndexDescription, global bool) {
	if len(list) == 0 {
		return
	}
	a.array(name)
	for i := range list {
		x := &list[i]
		a.element()
		a.string("IndexName", x.IndexName)
		a.keySchema(x.KeySchema)
		a.projection(x)
		if global {
			a.throughput(&x.Provisioned)
			a.onDemand(x.OnDemand)
		}
		a.end('}')
	}
	a.end(']')
}

func (a *answer) listBackups(out *engine.ListBackupsOutput) {
	a.array("BackupSummaries")
	for _, b := range out.Backups {
		a.element()
		a.string("TableName", b.Table.TableName)
		a.string("TableId", b.Table.TableID)
		a.string("TableArn", b.Table.ARN)
		a.backupDetails(b, b.Status)
		a.end('}')
	}
	a.end(']')
	a.optString("LastEvaluatedBackupArn", out.LastEvaluated)
}
