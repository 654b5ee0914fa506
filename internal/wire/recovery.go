package wire

import "github.com/heatsink-go/heatsink/internal/engine"

var recoverySpecification = member("PointInTimeRecoverySpecification")

func (r *request) updateContinuousBackups(in *engine.UpdateContinuousBackupsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "PointInTimeRecoverySpecification":
			in.HasSpec = true
			for name := range r.Members(&recoverySpecification) {
				switch name {
				case "PointInTimeRecoveryEnabled":
					in.Enabled = r.optBool()
				case "RecoveryPeriodInDays":
					in.Days = r.optInteger()
				default:
					r.Skip()
				}
			}
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) continuousBackups(c *engine.ContinuousBackups) {
	a.object("ContinuousBackupsDescription")
	a.string("ContinuousBackupsStatus", "ENABLED") // backups on demand are always possible
	a.object("PointInTimeRecoveryDescription")
	if c.Enabled {
		a.string("PointInTimeRecoveryStatus", "ENABLED")
		a.int("RecoveryPeriodInDays", c.Days)
		a.optTime("EarliestRestorableDateTime", c.Earliest)
		a.optTime("LatestRestorableDateTime", c.Latest)
	} else {
		a.string("PointInTimeRecoveryStatus", "DISABLED")
	}
	a.end('}')
	a.end('}')
}

// restore reads a RestoreTableFromBackup or a RestoreTableToPointInTime.
func (r *request) restore(in *engine.RestoreInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "BackupArn":
			in.BackupARN = r.optString()
		case "SourceTableName":
			in.SourceTableName = r.optString()
		case "SourceTableArn":
			in.SourceTableARN = r.optString()
		case "RestoreDateTime":
			in.At = r.optTime()
		case "UseLatestRestorableTime":
			in.Latest = r.Bool()
		case "TargetTableName":
			in.TargetTableName = r.optString()
		case "BillingModeOverride":
			in.BillingMode = r.optString()
		case "ProvisionedThroughputOverride":
			in.ProvisionedThroughput = r.provisionedThroughput()
		case "OnDemandThroughputOverride":
			in.OnDemandThroughput = r.onDemandThroughput()
		case "GlobalSecondaryIndexOverride":
			in.GlobalIndexes, in.HasGlobalIndexes = r.indexes(&globalIndexType), true
		case "LocalSecondaryIndexOverride":
			in.LocalIndexes, in.HasLocalIndexes = r.indexes(&localIndexType), true
		case "SSESpecificationOverride":
			in.Encryption = r.encryption()
		case "VectorIndexOverride":
			r.refuseElements(name)
		default:
			r.Skip()
		}
	}
	return &in.Request
}
