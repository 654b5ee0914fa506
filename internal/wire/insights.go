package wire

import "github.com/heatsink-go/heatsink/internal/engine"

func (r *request) contributorInsights(in *engine.ContributorInsightsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "IndexName":
			in.IndexName = r.optString()
		case "ContributorInsightsAction":
			in.Action = r.optString()
		case "ContributorInsightsMode":
			in.Mode = r.optString()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) contributorInsights(out *engine.ContributorInsights) {
	a.string("TableName", out.TableName)
	a.optString("IndexName", out.IndexName)
	a.string("ContributorInsightsStatus", out.Status)
	a.optString("ContributorInsightsMode", out.Mode)
	if len(out.Rules) > 0 {
		a.strings("ContributorInsightsRuleList", out.Rules)
	}
	a.optTime("LastUpdateDateTime", out.Updated)
}
