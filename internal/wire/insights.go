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

func (r *request) listInsights(in *engine.ListInsightsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "NextToken":
			in.NextToken = r.optString()
		case "MaxResults":
			in.MaxResults = r.optInteger()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) listInsights(out *engine.ListInsightsOutput) {
	a.array("ContributorInsightsSummaries")
	for _, s := range out.Insights {
		a.element()
		a.string("TableName", s.TableName)
		a.optString("IndexName", s.IndexName)
		a.string("ContributorInsightsStatus", s.Status)
		a.optString("ContributorInsightsMode", s.Mode)
		a.end('}')
	}
	a.end(']')
	a.optString("NextToken", out.NextToken)
}
