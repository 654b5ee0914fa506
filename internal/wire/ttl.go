package wire

import "github.com/heatsink-go/heatsink/internal/engine"

var ttlSpecification = member("TimeToLiveSpecification")

func (r *request) updateTimeToLive(in *engine.UpdateTimeToLiveInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "TimeToLiveSpecification":
			in.HasSpec = true
			for name := range r.Members(&ttlSpecification) {
				switch name {
				case "Enabled":
					in.Enabled = r.optBool()
				case "AttributeName":
					in.AttributeName = r.optString()
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

func (a *answer) updateTimeToLive(t *engine.TimeToLive) {
	a.object("TimeToLiveSpecification")
	a.bool("Enabled", t.Enabled)
	a.string("AttributeName", t.AttributeName)
	a.end('}')
}

func (a *answer) describeTimeToLive(t *engine.TimeToLive) {
	a.object("TimeToLiveDescription")
	a.string("TimeToLiveStatus", t.Status)
	a.optString("AttributeName", t.AttributeName)
	a.end('}')
}
