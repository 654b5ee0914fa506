package heatpage

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

// frame is what a browser is sent: everything when it comes, and what has changed after each round.
type frame struct {
	Instance string `json:"instance"` // of the page: a browser that meets another one begins anew
	Whole    bool   `json:"whole,omitempty"`
	Title    string `json:"title"`
	Now      int64  `json:"now"`             // milliseconds since 1970; of the last round
	Lost     string `json:"lost,omitempty"`  // why there is no round
	Ended    bool   `json:"ended,omitempty"` // Lost is as it was meant to be

	Rows    []*row        `json:"rows,omitempty"`
	Gone    []int         `json:"gone,omitempty"`
	Columns []columnFrame `json:"columns,omitempty"`
	Events  []event       `json:"events,omitempty"`

	// Known are the flows that the history has rows of, as they were when they were last seen.
	Known []flowPanel `json:"known,omitempty"`

	*panels
}

// columnFrame is a column. It replaces those within its range.
type columnFrame struct {
	Start   int64     `json:"t"` // milliseconds since 1970
	Seconds float64   `json:"d"`
	Rows    []int     `json:"r"`
	Units   []float64 `json:"u"`
	Refused []float64 `json:"x"`
}

func newColumnFrame(c *column) columnFrame {
	f := columnFrame{Start: c.start.UnixMilli(), Seconds: c.span.Seconds(), Rows: c.rows(), Units: []float64{}, Refused: []float64{}}
	for _, id := range f.Rows {
		d := c.cells[id]
		f.Units, f.Refused = append(f.Units, brief(d.units)), append(f.Refused, brief(d.refused))
	}
	return f
}

func columnFrames(columns []column) []columnFrame {
	frames := make([]columnFrame, 0, len(columns))
	for i := range columns {
		frames = append(frames, newColumnFrame(&columns[i]))
	}
	return frames
}

// brief leaves out digits that nobody sees.
func brief(x float64) float64 { return math.Round(100*x) / 100 }

// panels is what is shown beside the picture: of the last round.
type panels struct {
	Source     heat.Source      `json:"source"`
	Flows      []flowPanel      `json:"flows"`
	Partitions []partitionPanel `json:"partitions"`
	Keys       []keyPanel       `json:"keys"`
	Findings   []findingPanel   `json:"findings"`
	Ledgers    []ledgerPanel    `json:"ledgers"`
	Notes      []string         `json:"notes,omitempty"`
}

// flowPanel is a direction of a table or index.
type flowPanel struct {
	Name      string       `json:"name"`
	Resource  string       `json:"resource"`
	Direction string       `json:"direction"`
	Limit     float64      `json:"limit"` // units a second of one partition
	Units     float64      `json:"units"` // of the last second
	Refused   int64        `json:"refused"`
	Peak      float64      `json:"peak"`
	Total     float64      `json:"total"`
	Requests  int64        `json:"requests"`
	Retries   int64        `json:"retries"`
	Throttled int64        `json:"throttled"`
	Errors    int64        `json:"errors"`
	Distinct  int64        `json:"distinct"`
	About     bool         `json:"about,omitempty"` // Distinct is an estimate
	Latency   heat.Latency `json:"latency"`
}

// partitionPanel is a partition beside its ceilings.
type partitionPanel struct {
	Resource    string  `json:"resource"`
	ID          uint64  `json:"id"`
	Writes      float64 `json:"writes"` // of the last second
	Reads       float64 `json:"reads"`
	Refused     float64 `json:"refused"`
	WriteLimit  float64 `json:"writeLimit"`
	ReadLimit   float64 `json:"readLimit"`
	WriteTokens float64 `json:"writeTokens"`
	ReadTokens  float64 `json:"readTokens"`
	Bytes       int64   `json:"bytes"`
	Words       string  `json:"words,omitempty"`
}

// keyPanel is a key with its shards together.
type keyPanel struct {
	Flow    string  `json:"flow"`
	Key     string  `json:"key"`
	Shards  int     `json:"shards"`
	Spread  string  `json:"spread,omitempty"`
	Low     float64 `json:"low"` // the demand in units a second is between Low and High
	High    float64 `json:"high"`
	Share   float64 `json:"share"`
	Refused float64 `json:"refused"`
	Words   string  `json:"words,omitempty"`
}

// findingPanel is a finding, with the plan for its key where there is one.
type findingPanel struct {
	heat.Finding
	Flow    string `json:"flow"`
	Plan    string `json:"plan,omitempty"`
	Snippet string `json:"snippet,omitempty"`
}

// mostKeys and mostFindings bound the lists beside the picture.
const mostKeys, mostFindings = 50, 50

func newPanels(r *round.Round, o *Options, plans planner) *panels {
	p := &panels{Source: r.Source, Notes: r.Notes, Flows: []flowPanel{}, Partitions: []partitionPanel{}, Keys: []keyPanel{}, Findings: []findingPanel{}, Ledgers: newLedgerPanels(r)}
	flows := r.Flows()
	for i := range flows {
		p.flow(r, &flows[i], o.Layouts)
	}
	slices.SortStableFunc(p.Flows, func(a, b flowPanel) int { return strings.Compare(a.Name, b.Name) }) // rows must not jump about
	for i := range r.Partitions {
		h := &r.Partitions[i]
		for j := range h.Partitions {
			q := &h.Partitions[j]
			second := round.LastWhole(q.Seconds, r.To)
			p.Partitions = append(p.Partitions, partitionPanel{
				Resource: heat.Resource{Table: h.Table, Index: h.Index}.String(), ID: q.ID,
				Writes: brief(second.WriteUnits), Reads: brief(second.ReadUnits), Refused: brief(second.WriteThrottled + second.ReadThrottled),
				WriteLimit: float64(h.PartitionWrites), ReadLimit: float64(h.PartitionReads),
				WriteTokens: brief(q.WriteTokens), ReadTokens: brief(q.ReadTokens), Bytes: q.Bytes, Words: round.ObstacleWords(q.Obstacle),
			})
		}
	}
	findings := heat.Explain(r.Report, o.Rules)
	for _, f := range findings[:min(mostFindings, len(findings))] {
		of := findingPanel{Finding: f, Flow: flowName(f.Resource, f.Direction)}
		of.Plan, of.Snippet = plans.of(r, findings, &f)
		p.Findings = append(p.Findings, of)
	}
	return p
}

// flow adds a flow and its hottest keys.
func (p *panels) flow(r *round.Round, f *round.Flow, layouts []heat.Layout) {
	of := f.Flow(f.Direction)
	second := round.LastSecond(of.Trend, r.To)
	p.Flows = append(p.Flows, flowPanel{
		Name: f.Name(), Resource: f.Resource.String(), Direction: f.Direction.String(), Limit: f.Limit,
		Units: brief(second.Units), Refused: second.Throttled, Peak: brief(of.Peak), Total: brief(of.Units),
		Requests: of.Requests, Retries: of.Retries, Throttled: of.Throttled, Errors: of.Errors,
		Distinct: of.Distinct.Keys, About: of.Distinct.Error > 0, Latency: of.Latency,
	})
	type name struct {
		key   string
		shard bool // a bare key beside shards is another key
	}
	high := make(map[name]float64, len(of.Keys)) // upper bounds, which folded keys do not have
	lately := make(map[name]float64)             // likewise
	naming, _ := round.Names(of, layouts)
	for i := range of.Keys {
		key, shard := naming(of.Keys[i].Key)
		high[name{key, shard}] += of.Keys[i].Rate
		lately[name{key, shard}] += of.Keys[i].Lately
	}
	keys := of.Folded(layouts...)
	for i := range keys[:min(mostKeys, len(keys))] {
		k := &keys[i]
		panel := keyPanel{
			Flow: f.Name(), Key: k.Key, Shards: k.Shards, Spread: k.Spread(),
			Low: brief(k.RateLow), High: brief(max(k.RateLow, high[name{k.Key, k.Shards > 1}])), Share: brief(k.Share),
			Refused: refusedNow(of, r.To, quietAfter(r, f, k.Key), k.Refused, lately[name{k.Key, k.Shards > 1}]),
		}
		if panel.Refused > 0 {
			panel.Words = round.ReasonWords(k.Reason)
		}
		p.Keys = append(p.Keys, panel)
	}
}

// refusedNow returns the throttles of a key a second as of now. The rates of reports decay: long after a throttle there is something
// left of it, which the figures beside it contradict. lately is the one that decays soonest, 0 if it is not known.
func refusedNow(of *heat.Flow, now time.Time, quiet time.Duration, refused, lately float64) float64 {
	if lately > 0 {
		refused = lately
	}
	most := 0.0 // a key is not throttled more than all keys
	for _, p := range of.Trend {
		if p.From.Add(p.For).After(now.Add(-quiet)) {
			most = max(most, float64(p.Throttled))
		}
	}
	if len(of.Trend) > 0 {
		refused = min(refused, most)
	}
	if refused < 0.1 {
		return 0
	}
	return brief(refused)
}

// quietAfter is after how long without a throttle a key is not throttled any more: some seconds, so that the list does not flicker,
// but one of a key that has just grown.
func quietAfter(r *round.Round, f *round.Flow, key string) time.Duration {
	for _, d := range r.Decisions {
		if age := r.To.Sub(d.At); d.Reason == heat.DecidedGrow && d.Resource == f.Resource && d.Key == key && age >= 0 && age < time.Minute {
			return time.Second
		}
	}
	return 3 * time.Second
}
