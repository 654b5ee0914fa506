package wire

import (
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

var (
	localIndexType  = element("LocalSecondaryIndex")
	globalIndexType = element("GlobalSecondaryIndex")
	indexUpdateType = element("GlobalSecondaryIndexUpdate")
	createIndexType = member("CreateGlobalSecondaryIndexAction")
	updateIndexType = member("UpdateGlobalSecondaryIndexAction")
	deleteIndexType = member("DeleteGlobalSecondaryIndexAction")
	projectionType  = member("Projection")
)

func (r *request) indexes(t *jsonpull.Type) (list []engine.IndexInput) {
	for range r.Elements(&listType) {
		list = keep(list, *r.index(t))
	}
	return list
}

// index reads the description of an index, of which some kinds and some
// requests have only a part.
func (r *request) index(t *jsonpull.Type) *engine.IndexInput {
	in := new(engine.IndexInput)
	for name := range r.Members(t) {
		switch name {
		case "IndexName":
			in.IndexName = r.optString()
		case "KeySchema":
			in.KeySchema, in.HasKeySchema = r.keySchema(), true
		case "Projection":
			in.Projection = r.projection()
		case "ProvisionedThroughput":
			in.ProvisionedThroughput = r.provisionedThroughput()
		case "OnDemandThroughput":
			in.OnDemandThroughput = r.onDemandThroughput()
		case "WarmThroughput":
			in.WarmThroughput = r.warmThroughput()
		default:
			r.Skip()
		}
	}
	return in
}

func (r *request) projection() *engine.Projection {
	p := new(engine.Projection)
	for name := range r.Members(&projectionType) {
		switch name {
		case "ProjectionType":
			p.Type = r.optString()
		case "NonKeyAttributes":
			p.NonKeyAttributes, p.HasNonKey = r.stringList(), true
		default:
			r.Skip()
		}
	}
	return p
}

func (r *request) indexUpdates() (list []engine.IndexUpdate) {
	for range r.Elements(&listType) {
		var u engine.IndexUpdate
		for name := range r.Members(&indexUpdateType) {
			switch name {
			case "Create":
				u.Create = r.index(&createIndexType)
			case "Update":
				u.Update = r.index(&updateIndexType)
			case "Delete":
				u.Delete = r.index(&deleteIndexType)
			default:
				r.Skip()
			}
		}
		list = keep(list, u)
	}
	return list
}
