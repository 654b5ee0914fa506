package wire

import "github.com/heatsink-go/heatsink/internal/engine"

func (a *answer) tableDescription(t *engine.TableDescription) {
	a.object("TableDescription")
	a.table(t)
	a.end('}')
}

func (a *answer) describeTable(t *engine.TableDescription) {
	a.object("Table")
	a.table(t)
	a.end('}')
}

func (a *answer) listTables(out *engine.ListTablesOutput) {
	a.strings("TableNames", out.TableNames)
	a.optString("LastEvaluatedTableName", out.LastEvaluated)
}

func (a *answer) table(t *engine.TableDescription) {
	a.string("TableName", t.TableName)
	a.string("TableStatus", t.Status)
	a.optString("TableArn", t.ARN)
	a.optString("TableId", t.TableID)
	a.optTime("CreationDateTime", t.Created)
	if len(t.AttributeDefinitions) > 0 {
		a.array("AttributeDefinitions")
		for _, d := range t.AttributeDefinitions {
			a.element()
			a.string("AttributeName", d.AttributeName)
			a.string("AttributeType", d.AttributeType)
			a.end('}')
		}
		a.end(']')
	}
	if len(t.KeySchema) > 0 {
		a.keySchema(t.KeySchema)
	}
	a.int("ItemCount", t.ItemCount)
	a.int("TableSizeBytes", t.SizeBytes)
	a.provisioned(&t.Provisioned)
	if t.BillingMode != "" {
		a.object("BillingModeSummary")
		a.string("BillingMode", t.BillingMode)
		a.optTime("LastUpdateToPayPerRequestDateTime", t.BillingModeChanged)
		a.end('}')
	}
	a.onDemand(t.OnDemand)
	a.warm(&t.Warm)
	a.indexes("LocalSecondaryIndexes", t.LocalIndexes, false)
	a.indexes("GlobalSecondaryIndexes", t.GlobalIndexes, true)
	if t.StreamViewType != "" {
		a.object("StreamSpecification")
		a.bool("StreamEnabled", true)
		a.string("StreamViewType", t.StreamViewType)
		a.end('}')
	}
	a.optString("LatestStreamArn", t.LatestStreamARN)
	a.optString("LatestStreamLabel", t.LatestStreamLabel)
	if t.TableClass != "" {
		a.object("TableClassSummary")
		a.string("TableClass", t.TableClass)
		a.optTime("LastUpdateDateTime", t.TableClassChanged)
		a.end('}')
	}
	a.encryption(t)
	if r := t.Restore; r != nil {
		a.object("RestoreSummary")
		a.optString("SourceBackupArn", r.BackupARN)
		a.optString("SourceTableArn", r.TableARN)
		a.optTime("RestoreDateTime", r.At)
		a.bool("RestoreInProgress", true)
		a.end('}')
	}
	a.bool("DeletionProtectionEnabled", t.DeletionProtection)
}

// encryption writes with which key a table is encrypted, nothing if it has none of its own.
func (a *answer) encryption(t *engine.TableDescription) {
	if !t.SSEEnabled && !t.SSEChanging {
		return
	}
	a.object("SSEDescription")
	if t.SSEChanging {
		a.string("Status", "UPDATING")
	} else {
		a.string("Status", "ENABLED")
	}
	if t.SSEEnabled {
		a.string("SSEType", "KMS")
	}
	a.optString("KMSMasterKeyArn", t.SSEKey)
	a.end('}')
}

func (a *answer) keySchema(schema []engine.KeyElement) {
	a.array("KeySchema")
	for _, k := range schema {
		a.element()
		a.string("AttributeName", k.AttributeName)
		a.string("KeyType", k.KeyType)
		a.end('}')
	}
	a.end(']')
}

func (a *answer) provisioned(t *engine.ThroughputDescription) {
	a.object("ProvisionedThroughput")
	a.optTime("LastIncreaseDateTime", t.LastIncrease)
	a.optTime("LastDecreaseDateTime", t.LastDecrease)
	a.int("NumberOfDecreasesToday", t.DecreasesToday)
	a.int("ReadCapacityUnits", t.Read)
	a.int("WriteCapacityUnits", t.Write)
	a.end('}')
}

func (a *answer) onDemand(t *engine.Throughput) {
	if t != nil {
		a.object("OnDemandThroughput")
		a.optInt("MaxReadRequestUnits", t.Read)
		a.optInt("MaxWriteRequestUnits", t.Write)
		a.end('}')
	}
}

func (a *answer) warm(t *engine.WarmThroughput) {
	if t.Status != "" {
		a.object("WarmThroughput")
		a.int("ReadUnitsPerSecond", t.Read)
		a.int("WriteUnitsPerSecond", t.Write)
		a.string("Status", t.Status)
		a.end('}')
	}
}

func (a *answer) indexes(name string, list []engine.IndexDescription, global bool) {
	if len(list) == 0 {
		return
	}
	a.array(name)
	for i := range list {
		a.element()
		a.index(&list[i], global)
		a.end('}')
	}
	a.end(']')
}

func (a *answer) index(x *engine.IndexDescription, global bool) {
	a.string("IndexName", x.IndexName)
	a.optString("IndexArn", x.ARN)
	a.keySchema(x.KeySchema)
	a.projection(x)
	a.int("ItemCount", x.ItemCount)
	a.int("IndexSizeBytes", x.SizeBytes)
	if global {
		a.string("IndexStatus", x.Status)
		if x.Backfilling != nil {
			a.bool("Backfilling", *x.Backfilling)
		}
		a.provisioned(&x.Provisioned)
		a.onDemand(x.OnDemand)
		a.warm(&x.Warm)
	}
}

func (a *answer) projection(x *engine.IndexDescription) {
	a.object("Projection")
	a.string("ProjectionType", x.ProjectionType)
	if len(x.NonKey) > 0 {
		a.strings("NonKeyAttributes", x.NonKey)
	}
	a.end('}')
}
