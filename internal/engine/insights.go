package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/sketch"
)

// insights are the Contributor Insights of a table or index: for each rule and minute the keys that were accessed most.
// There are none without physics. They are kept in memory only: after a start all are off.
type insights struct {
	*resource
	created       time.Time
	throttledOnly bool

	mu      sync.Mutex
	minutes [insightMinutes]insightMinute // the place of minute n is n modulo their number
}

type insightMinute struct {
	number int64
	rules  [insightRules]*sketch.Heavy[[]string] // with the values of keys, which the sketch would cut
}

const (
	insightMinutes = 60 // that are remembered
	insightKeys    = 100
	insightRules   = 4
)

// ruleNames are the rules' kinds as their names have them: partition keys (PK) and items (SK), that were accessed (C) or
// throttled (T).
var ruleNames = [insightRules]string{"PKC", "PKT", "SKC", "SKT"}

// ContributorInsightsInput is the request of DescribeContributorInsights and UpdateContributorInsights.
type ContributorInsightsInput struct {
	Request
	TableName *string
	IndexName *string
	Action    *string
	Mode      *string
}

// ContributorInsights is what there is to tell of them.
type ContributorInsights struct {
	TableName, IndexName string
	Status               string
	Mode                 string
	Rules                []string
	Updated              time.Time
}

const (
	allKeys       = "ACCESSED_AND_THROTTLED_KEYS"
	throttledKeys = "THROTTLED_KEYS"
)

// DescribeContributorInsights tells whether those of a table or index are on, and their rules.
func (e *Engine) DescribeContributorInsights(ctx context.Context, in *ContributorInsightsInput) (*ContributorInsights, error) {
	out, of, err := e.insightsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if of == nil {
		return out, nil
	}
	if i := of.insights.Load(); i != nil {
		out.Status, out.Mode, out.Rules, out.Updated = "ENABLED", i.mode(), i.rules(), i.created
	}
	return out, nil
}

// UpdateContributorInsights turns them on or off, at once.
func (e *Engine) UpdateContributorInsights(ctx context.Context, in *ContributorInsightsInput) (*ContributorInsights, error) {
	var c constraints
	c.required("contributorInsightsAction", in.Action != nil)
	c.word("contributorInsightsAction", in.Action, "ENABLE", "DISABLE")
	c.word("contributorInsightsMode", in.Mode, throttledKeys, allKeys)
	if err := c.err(); err != nil {
		return nil, err
	}
	out, of, err := e.insightsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if *in.Action == "DISABLE" {
		if of != nil {
			of.insights.Store(nil)
		}
		out.Status = "DISABLING"
		return out, nil
	}
	if of == nil {
		return nil, invalid("Contributor Insights needs an engine with physics: start heatsink serve --physics, or set local.Options.Physics")
	}
	i := &insights{resource: of, created: time.Now(), throttledOnly: in.Mode != nil && *in.Mode == throttledKeys}
	of.insights.Store(i)
	out.Status, out.Mode = "ENABLING", i.mode()
	return out, nil
}

// insightsOf finds the table or index of a request: nil without physics.
func (e *Engine) insightsOf(ctx context.Context, in *ContributorInsightsInput) (out *ContributorInsights, of *resource, err error) {
	if name := in.IndexName; name != nil && (len(*name) < 3 || len(*name) > 255) {
		return nil, nil, invalid("IndexName must be at least 3 characters long and at most 255 characters long")
	}
	var fault error
	err = e.view(ctx, &TableInput{Request: in.Request, TableName: in.TableName}, func(t *table) {
		out = &ContributorInsights{TableName: t.name, Status: "DISABLED"}
		set := t.partitions
		if in.IndexName != nil {
			x := t.index(*in.IndexName)
			if x == nil || x.local {
				fault = errorf(TypeResourceNotFound, "Requested resource not found: Index: %s not found", *in.IndexName)
				return
			}
			out.IndexName, set = x.name, x.partitions
		}
		if set != nil {
			of = resourceOf(set)
		}
	})
	if err == nil {
		err = fault
	}
	return out, of, err
}

// countKeys counts what was charged, or refused if throttle is not nil, where insights are on.
func countKeys(now time.Time, throttle *partition.Throttle, charges ...partition.Charge) {
	for i := range charges {
		of := resourceOf(charges[i].Set)
		insights := of.insights.Load()
		if insights == nil {
			continue
		}
		if refused := refusal(throttle, i) != ""; refused || throttle == nil {
			insights.count(now, &charges[i], refused)
		}
	}
}

// perWrite is how much a write unit counts of what contributors consume, in read units: a partition serves a third as many.
const perWrite = 3

// count counts what a charge consumed, or that it was refused.
func (i *insights) count(now time.Time, c *partition.Charge, refused bool) {
	if i.throttledOnly && !refused {
		return
	}
	partitionKey, sort := i.key(c.Place)
	if partitionKey == nil {
		return // a scan is of no key
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	minute := i.minute(now)
	rule, weight := 0, c.Read+perWrite*c.Write
	if refused {
		rule, weight = 1, 1
	}
	add := func(rule int, key []string) {
		if minute.rules[rule] == nil {
			minute.rules[rule] = sketch.NewHeavy[[]string](insightKeys, 0)
		}
		text := strings.Join(key, between)
		if kept := minute.rules[rule].Add(0, xxhash.Sum64String(text), weight, sketch.Text(text)); kept != nil && *kept == nil {
			*kept = key
		}
	}
	add(rule, partitionKey)
	if sort != nil {
		add(rule+2, slices.Concat(partitionKey, sort))
	}
}

// between parts the attributes of a key in the texts that are counted: no text that DynamoDB takes has it.
const between = "\xff"

// minute returns where a time is counted. i is locked.
func (i *insights) minute(now time.Time) *insightMinute {
	number := now.Unix() / 60
	m := &i.minutes[number%insightMinutes]
	if m.number != number {
		*m = insightMinute{number: number}
	}
	return m
}

func (i *insights) mode() string {
	if i.throttledOnly {
		return throttledKeys
	}
	return allKeys
}

// rules returns the names of the rules, as DynamoDB makes them.
func (i *insights) rules() []string {
	var names []string
	for rule, kind := range ruleNames {
		if i.throttledOnly && rule%2 == 0 || len(i.keys.sort) == 0 && rule >= 2 {
			continue
		}
		resource := i.table
		if i.index != "" {
			resource += "-" + i.index
		}
		names = append(names, fmt.Sprintf("DynamoDBContributorInsights-%s-%s-%d", kind, resource, i.created.UnixMilli()))
	}
	return names
}

// InsightReport is what a rule lists of a stretch of time.
type InsightReport struct {
	KeyLabels    []string
	Total        float64
	Unique       int64
	Contributors []Contributor
}

// Contributor is a key and how often it was accessed or throttled, in all and by the minute.
type Contributor struct {
	Keys    []string
	Sum     float64
	Minutes []InsightPoint
}

// InsightPoint is a minute of a contributor.
type InsightPoint struct {
	Start time.Time
	Value float64
}

// InsightRuleReport returns what a rule lists between two times, the most first; nil if there is no such rule.
func (e *Engine) InsightRuleReport(ctx context.Context, name string, from, to time.Time, most int) (*InsightReport, error) {
	for _, table := range e.TableNames() {
		found, err := e.insightsByRule(ctx, table, name)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if found != nil { // else the table may have been deleted since it was listed
			kind := strings.TrimPrefix(name, "DynamoDBContributorInsights-")[:3]
			return found.report(slices.Index(ruleNames[:], kind), from, to, most), nil
		}
	}
	return nil, nil
}

// insightsByRule returns the insights of a table that have the rule, or nil.
func (e *Engine) insightsByRule(ctx context.Context, table, rule string) (*insights, error) {
	t, err := e.openTable(ctx, table)
	if err != nil {
		return nil, err
	}
	defer t.release()
	return t.insights(rule), nil
}

// insights returns those of the table or one of its indexes that have the rule.
func (t *table) insights(rule string) *insights {
	sets := []*partition.Set{t.partitions}
	for _, x := range t.indexes {
		sets = append(sets, x.partitions)
	}
	for _, set := range sets {
		if set == nil {
			continue
		}
		if i := resourceOf(set).insights.Load(); i != nil && slices.Contains(i.rules(), rule) {
			return i
		}
	}
	return nil
}

func (i *insights) report(rule int, from, to time.Time, most int) *InsightReport {
	i.mu.Lock()
	defer i.mu.Unlock()
	report := &InsightReport{}
	parts := i.keys.hash
	if rule >= 2 {
		parts = i.keys.parts
	}
	for _, p := range parts {
		report.KeyLabels = append(report.KeyLabels, p.Name)
	}
	sums := make(map[uint64]*Contributor)
	latest := time.Now().Unix() / 60
	for number := max(0, latest-insightMinutes+1); number <= latest; number++ {
		m := &i.minutes[number%insightMinutes]
		start := time.Unix(60*number, 0).UTC()
		if m.number != number || m.rules[rule] == nil || start.Before(from) || !start.Before(to) {
			continue
		}
		report.Total += m.rules[rule].Total(0)
		for _, k := range m.rules[rule].Top(0, insightKeys) {
			c := sums[k.Hash]
			if c == nil {
				c = &Contributor{Keys: k.Extra}
				sums[k.Hash] = c
			}
			c.Sum += k.High
			c.Minutes = append(c.Minutes, InsightPoint{start, k.High})
		}
	}
	report.Unique = int64(len(sums))
	for _, c := range sums {
		report.Contributors = append(report.Contributors, *c)
	}
	slices.SortFunc(report.Contributors, func(a, b Contributor) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), slices.Compare(a.Keys, b.Keys))
	})
	report.Contributors = report.Contributors[:min(most, len(report.Contributors))]
	return report
}
