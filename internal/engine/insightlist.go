package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// ListInsightsInput is the request of ListContributorInsights.
type ListInsightsInput struct {
	Request
	TableName  *string
	NextToken  *string
	MaxResults *int64
}

// ListInsightsOutput is the answer of ListContributorInsights.
type ListInsightsOutput struct {
	Insights  []ContributorInsights
	NextToken string // empty: the end
}

// ListContributorInsights lists the tables and global indexes whose insights are on,
// tables by name and each before its indexes.
func (e *Engine) ListContributorInsights(ctx context.Context, in *ListInsightsInput) (*ListInsightsOutput, error) {
	var c constraints
	c.resourceName("tableName", shortName(in.TableName))
	c.atMost("maxResults", in.MaxResults, 100)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	names := e.TableNames()
	if in.TableName != nil {
		names = []string{nameOf(*in.TableName)}
		if _, err := e.lookup(names[0]); err != nil {
			return nil, err
		}
	}
	after := ""
	if in.NextToken != nil {
		after = *in.NextToken
	}
	most := 100
	if in.MaxResults != nil && *in.MaxResults > 0 {
		most = int(*in.MaxResults)
	}
	out := &ListInsightsOutput{}
	for _, name := range names {
		list, err := e.enabledInsights(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			if i.token() <= after {
				continue
			}
			if len(out.Insights) == most {
				out.NextToken = out.Insights[most-1].token()
				return out, nil
			}
			out.Insights = append(out.Insights, i)
		}
	}
	return out, nil
}

// token is the place of insights in the list. A space sorts before all that names
// consist of, so that the order of tokens is that of the list.
func (i *ContributorInsights) token() string { return i.TableName + " " + i.IndexName }

// enabledInsights returns those of a table and its indexes that are on. A table that
// was deleted since it was listed has none.
func (e *Engine) enabledInsights(ctx context.Context, name string) (list []ContributorInsights, err error) {
	t, err := e.openTable(ctx, name)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer t.release()
	add := func(set *partition.Set, index string) {
		if set == nil {
			return
		}
		if i := resourceOf(set).insights.Load(); i != nil {
			list = append(list, ContributorInsights{TableName: t.name, IndexName: index, Status: "ENABLED", Mode: i.mode()})
		}
	}
	add(t.partitions, "")
	for _, x := range t.indexes {
		add(x.partitions, x.name)
	}
	slices.SortFunc(list, func(a, b ContributorInsights) int { return strings.Compare(a.IndexName, b.IndexName) })
	return list, nil
}
