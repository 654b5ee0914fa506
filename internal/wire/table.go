package wire

import "github.com/heatsink-go/heatsink/internal/engine"

var (
	definitionType      = element("AttributeDefinition")
	keyElementType      = element("KeySchemaElement")
	throughputType      = member("ProvisionedThroughput")
	onDemandType        = member("OnDemandThroughput")
	warmType            = member("WarmThroughput")
	streamSpecification = member("StreamSpecification")
	sseSpecification    = member("SSESpecification")
)

func (r *request) createTable(in *engine.CreateTableInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "AttributeDefinitions":
			in.AttributeDefinitions, in.HasDefinitions = r.attributeDefinitions(), true
		case "KeySchema":
			in.KeySchema, in.HasKeySchema = r.keySchema(), true
		case "LocalSecondaryIndexes":
			in.LocalIndexes, in.HasLocalIndexes = r.indexes(&localIndexType), true
		case "GlobalSecondaryIndexes":
			in.GlobalIndexes, in.HasGlobalIndexes = r.indexes(&globalIndexType), true
		case "BillingMode":
			in.BillingMode = r.optString()
		case "ProvisionedThroughput":
			in.ProvisionedThroughput = r.provisionedThroughput()
		case "OnDemandThroughput":
			in.OnDemandThroughput = r.onDemandThroughput()
		case "WarmThroughput":
			in.WarmThroughput = r.warmThroughput()
		case "StreamSpecification":
			in.Stream = r.streamSpecification()
		case "TableClass":
			in.TableClass = r.optString()
		case "DeletionProtectionEnabled":
			in.DeletionProtection = r.optBool()
		case "SSESpecification":
			in.Encryption = r.encryption()
		case "Tags":
			in.Tags = r.tags()
		case "VectorIndexes":
			r.refuseElements(name)
		case "ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode":
			r.refuse(name)
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) updateTable(in *engine.UpdateTableInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "AttributeDefinitions":
			in.AttributeDefinitions = r.attributeDefinitions()
		case "BillingMode":
			in.BillingMode = r.optString()
		case "ProvisionedThroughput":
			in.ProvisionedThroughput = r.provisionedThroughput()
		case "OnDemandThroughput":
			in.OnDemandThroughput = r.onDemandThroughput()
		case "WarmThroughput":
			in.WarmThroughput = r.warmThroughput()
		case "GlobalSecondaryIndexUpdates":
			in.IndexUpdates, in.HasIndexUpdates = r.indexUpdates(), true
		case "StreamSpecification":
			in.Stream = r.streamSpecification()
		case "TableClass":
			in.TableClass = r.optString()
		case "DeletionProtectionEnabled":
			in.DeletionProtection = r.optBool()
		case "ReplicaUpdates", "GlobalTableWitnessUpdates", "VectorIndexUpdates":
			r.refuseElements(name)
		case "SSESpecification":
			in.Encryption = r.encryption()
		case "MultiRegionConsistency", "GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled":
			r.refuse(name)
		default:
			r.Skip()
		}
	}
	return &in.Request
}

// table reads a request that only names a table.
func (r *request) table(in *engine.TableInput) *engine.Request {
	for name := range r.Members(&requestType) {
		if name == "TableName" {
			in.TableName = r.optString()
		} else {
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) listTables(in *engine.ListTablesInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ExclusiveStartTableName":
			in.ExclusiveStart = r.optString()
		case "Limit":
			in.Limit = r.optInteger()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) attributeDefinitions() (list []engine.AttributeDefinition) {
	for range r.Elements(&listType) {
		var d engine.AttributeDefinition
		for name := range r.Members(&definitionType) {
			switch name {
			case "AttributeName":
				d.AttributeName = r.Text()
			case "AttributeType":
				d.AttributeType = r.Text()
			default:
				r.Skip()
			}
		}
		list = keep(list, d)
	}
	return list
}

func (r *request) keySchema() (schema []engine.KeyElement) {
	for range r.Elements(&listType) {
		var k engine.KeyElement
		for name := range r.Members(&keyElementType) {
			switch name {
			case "AttributeName":
				k.AttributeName = r.Text()
			case "KeyType":
				k.KeyType = r.Text()
			default:
				r.Skip()
			}
		}
		schema = keep(schema, k)
	}
	return schema
}

func (r *request) provisionedThroughput() *engine.Throughput {
	t := new(engine.Throughput)
	for name := range r.Members(&throughputType) {
		switch name {
		case "ReadCapacityUnits":
			t.Read = r.optLong()
		case "WriteCapacityUnits":
			t.Write = r.optLong()
		default:
			r.Skip()
		}
	}
	return t
}

func (r *request) onDemandThroughput() *engine.Throughput {
	t := new(engine.Throughput)
	for name := range r.Members(&onDemandType) {
		switch name {
		case "MaxReadRequestUnits":
			t.Read = r.optLong()
		case "MaxWriteRequestUnits":
			t.Write = r.optLong()
		default:
			r.Skip()
		}
	}
	return t
}

func (r *request) warmThroughput() *engine.Throughput {
	t := new(engine.Throughput)
	for name := range r.Members(&warmType) {
		switch name {
		case "ReadUnitsPerSecond":
			t.Read = r.optLong()
		case "WriteUnitsPerSecond":
			t.Write = r.optLong()
		default:
			r.Skip()
		}
	}
	return t
}

func (r *request) streamSpecification() *engine.StreamSpecification {
	s := new(engine.StreamSpecification)
	for name := range r.Members(&streamSpecification) {
		switch name {
		case "StreamEnabled":
			s.Enabled = r.optBool()
		case "StreamViewType":
			s.ViewType = r.optString()
		default:
			r.Skip()
		}
	}
	return s
}

func (r *request) encryption() *engine.Encryption {
	s := new(engine.Encryption)
	for name := range r.Members(&sseSpecification) {
		switch name {
		case "Enabled":
			s.Enabled = r.optBool()
		case "SSEType":
			s.Type = r.optString()
		case "KMSMasterKeyId":
			s.Key = r.optString()
		default:
			r.Skip()
		}
	}
	return s
}
