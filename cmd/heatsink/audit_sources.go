package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// auditSource is a source of the audit.
type auditSource struct {
	name heat.Source
	look func(context.Context) (heat.Report, error)

	// cost says what will be read and what that costs.
	cost func(context.Context) (string, error)
}

// look announces the sources, reads them, and returns a report of each source that could be read, and an error that names
// those that could not. If ctx ends, it returns at once.
func (a *audit) look(ctx context.Context, screen *screen) (reports []heat.Report, failed error) {
	sources, err := a.sources(ctx, screen)
	if err != nil {
		return nil, err
	}
	faults := make([]error, len(sources))
	for i, s := range sources {
		text, err := s.cost(ctx)
		if faults[i] = err; err == nil {
			screen.say("%s of %s: %s", s.name, printable(a.table), text)
		}
	}
	for i, s := range sources {
		if faults[i] != nil {
			continue
		}
		screen.live(fmt.Sprintf("reading %s", s.name))
		report, err := s.look(ctx)
		screen.clear()
		if ctx.Err() != nil { // what was seen up to now is worth showing
			if len(report.Resources) > 0 {
				report.Notes = append(report.Notes, "interrupted: this report is incomplete")
				reports = append(reports, report)
			}
			return reports, ctx.Err()
		}
		if faults[i] = err; err == nil {
			if report.Limits == (heat.Limits{}) { // metrics do not say
				report.Limits = a.limits
			}
			reports = append(reports, report)
		}
	}
	for i, s := range sources {
		if faults[i] != nil {
			failed = also(failed, fmt.Errorf("%s: %w", s.name, faults[i]))
		}
	}
	return reports, failed
}

// sources returns the sources that the flags ask for, cheap ones first. All but an export need an account.
func (a *audit) sources(ctx context.Context, screen *screen) ([]auditSource, error) {
	scan := a.scans()
	var c clients
	if scan || a.engine || a.cloudwatch || a.insights || a.stream {
		var err error
		if c, err = a.clients(ctx); err != nil {
			return nil, err
		}
	}
	if err := a.checkIndexes(ctx, c); err != nil {
		return nil, err
	}
	counted := len(a.exports) == 0 && a.askEngine(ctx) && a.unasked() // an export alone needs no endpoint
	var all []auditSource
	for _, s := range []struct {
		asked  bool
		source auditSource
	}{
		{a.engine || counted, a.engineSource()},
		{a.cloudwatch, a.metricsSource(c)},
		{a.insights, a.insightsSource(c)},
		{len(a.exports) > 0, a.exportSource(screen)},
		{scan, a.scanSource(c, screen)},
		{a.stream, a.streamSource(c, screen)},
	} {
		if s.asked {
			all = append(all, s.source.of(c, a.table))
		}
	}
	return all, nil
}

// of makes errors say where the table was not found.
func (s auditSource) of(c clients, table string) auditSource {
	look, cost := s.look, s.cost
	s.look = func(ctx context.Context) (heat.Report, error) {
		report, err := look(ctx)
		return report, c.explain(table, err)
	}
	s.cost = func(ctx context.Context) (string, error) {
		text, err := cost(ctx)
		return text, c.explain(table, err)
	}
	return s
}

// atEngine is the server at the endpoint as an engine that counts its calls, nil without an endpoint or if that is one of AWS.
func (a *audit) atEngine() *engineFeed {
	endpoint := cmp.Or(a.endpoint, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	if at, err := url.Parse(endpoint); endpoint == "" || err != nil || strings.HasSuffix(at.Hostname(), "amazonaws.com") {
		return nil
	}
	return &engineFeed{endpoint: strings.TrimSuffix(endpoint, "/"), table: a.table, keys: max(a.top, 50)}
}

// askEngine takes the limits of the partitions of an engine, and reports whether there is one that has counted calls of the
// table. Any other server does not answer.
func (a *audit) askEngine(ctx context.Context) bool {
	feed := a.atEngine()
	if feed == nil {
		return false
	}
	var answer heatAnswer
	if err := feed.get(ctx, heatPath, &answer); err != nil || answer.Source != heat.Engine {
		return false
	}
	a.limits = answer.Limits
	return len(answer.Resources) > 0
}

// engineSource is what an engine has counted of the calls of all clients.
func (a *audit) engineSource() auditSource {
	return auditSource{
		name: heat.Engine,
		cost: fixed("the calls of all clients that it has counted; consumes no table capacity"),
		look: func(ctx context.Context) (heat.Report, error) {
			feed := a.atEngine()
			if feed == nil {
				return heat.Report{}, errors.New("no endpoint given: use --endpoint with that of heatsink serve --physics")
			}
			var answer heatAnswer
			if err := feed.get(ctx, heatPath, &answer); err != nil {
				return heat.Report{}, fmt.Errorf("the server at %s does not report its heat, as heatsink serve --physics without an access key would: %w", feed.endpoint, err)
			}
			options := a.options()
			if err := answer.Fold(options.Layouts...); err != nil {
				return heat.Report{}, err
			}
			if options.Redact != nil {
				answer.Redact(options.Redact)
			}
			return answer.Report, nil
		},
	}
}

// fixed is a cost that is known without asking.
func fixed(format string, args ...any) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return fmt.Sprintf(format, args...), nil }
}

func (a *audit) metricsSource(c clients) auditSource {
	o := heatcloudwatch.Options{Last: cmp.Or(a.last, time.Hour)}
	return auditSource{
		name: heat.CloudWatch,
		cost: fixed("metrics of the last %s, with GetMetricData, which AWS charges per metric; consumes no table capacity",
			spanText(o.Last)),
		look: func(ctx context.Context) (heat.Report, error) {
			return heatcloudwatch.Metrics(ctx, c.metrics, c.tables, a.table, o)
		},
	}
}

func (a *audit) insightsSource(c clients) auditSource {
	o := heatcloudwatch.Options{Last: cmp.Or(a.last, time.Hour)}
	return auditSource{
		name: heat.Insights,
		cost: fixed("keys of the last %s, with GetInsightRuleReport, where Contributor Insights is enabled; consumes no table capacity",
			spanText(o.Last)),
		look: func(ctx context.Context) (heat.Report, error) {
			report, err := heatcloudwatch.Insights(ctx, c.metrics, c.tables, a.table, o)
			if err == nil && len(report.Resources) == 0 {
				return heat.Report{}, fmt.Errorf("the table has Contributor Insights disabled: enable it, or leave --insights out (%s)", strings.Join(report.Notes[1:], "; "))
			}
			options := a.options()
			if err := report.Fold(options.Layouts...); err != nil {
				return heat.Report{}, err
			}
			if options.Redact != nil {
				report.Redact(options.Redact)
			}
			return report, err
		},
	}
}

// scanSource looks at a sample of the items.
func (a *audit) scanSource(c clients, screen *screen) auditSource {
	o := a.options()
	options := heat.ScanOptions{Items: a.items, Seed: a.seed, MaxRCU: a.maxRCU, Top: o.Top, Redact: o.Redact, Layouts: o.Layouts}
	options.Progress = func(p heat.ScanProgress) {
		screen.live(fmt.Sprintf("scan: %s of about %s, %s", figure.Thousands(p.Items), figure.Count(p.Of, "item"), figure.Count(p.Units, "read unit")))
	}
	return auditSource{
		name: heat.Scan,
		cost: func(ctx context.Context) (string, error) {
			cost, err := heat.EstimateScan(ctx, c.tables, a.table, options)
			return fmt.Sprintf("%s, at up to %s per second", cost, figure.Count(a.maxRCU, "unit")), err
		},
		look: func(ctx context.Context) (heat.Report, error) { return heat.ScanTable(ctx, c.tables, a.table, options) },
	}
}

func (a *audit) streamSource(c clients, screen *screen) auditSource {
	s := auditSource{name: heat.Stream, cost: fixed("all records that it still has; consumes no table capacity")}
	follow := a.follow
	if !a.cloudwatch && !a.insights { // with those, --last is their look-back window
		follow = cmp.Or(follow, a.last)
	}
	follow = cmp.Or(follow, time.Minute)
	if !a.fromStart {
		s.cost = fixed("followed for %s; consumes no table capacity", spanText(follow))
	}
	s.look = func(ctx context.Context) (heat.Report, error) {
		reader, err := heat.OpenStream(ctx, c.tables, c.streams, a.table, heat.StreamOptions{
			FromStart: a.fromStart, UntilNow: a.fromStart, Recorder: a.options(),
		})
		if err != nil {
			return heat.Report{}, err
		}
		if !a.fromStart {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, follow)
			defer cancel()
		}
		err = runStream(ctx, reader, screen)
		return reader.Report(), err
	}
	return s
}

// runStream reads a stream and shows how far it is.
func runStream(ctx context.Context, reader *heat.StreamReader, screen *screen) error {
	ended := make(chan error, 1)
	go func() { ended <- reader.Run(ctx) }()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ticker.C:
			text := "stream: " + figure.Count(reader.Records(), "write")
			if end, ok := ctx.Deadline(); ok {
				text += fmt.Sprintf(", %s left", time.Until(end).Round(time.Second))
			}
			screen.live(text)
		}
	}
}

func (a *audit) exportSource(screen *screen) auditSource {
	return auditSource{
		name: heat.Export,
		cost: func(context.Context) (string, error) {
			files, err := a.exportFiles()
			if len(files) == 1 {
				return printable(files[0]) + "; consumes no table capacity", err
			}
			return fmt.Sprintf("%d files; consumes no table capacity", len(files)), err
		},
		look: func(ctx context.Context) (heat.Report, error) { return a.readExport(ctx, screen) },
	}
}

// exportKeys returns the partition keys that flags name, by table or index.
func (a *audit) exportKeys() (map[string][]string, error) {
	keys := make(map[string][]string)
	for _, text := range a.keys {
		resource, name, err := parseKeyFlag(a.table, text)
		if err != nil {
			return nil, err
		}
		keys[resource] = append(keys[resource], name)
	}
	for _, resource := range slices.Sorted(maps.Keys(keys)) {
		names := keys[resource]
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				return nil, fmt.Errorf("--key names %q twice for %q", name, resource)
			}
		}
	}
	if names := keys[a.table]; len(names) > 1 {
		return nil, fmt.Errorf("table %q has one partition key, but --key gives %q: leave the sort key out", a.table, names)
	}
	if len(keys[a.table]) == 0 {
		return nil, errors.New("--export needs --key NAME, the table's partition key, which an export does not contain")
	}
	return keys, nil
}

func (a *audit) exportFiles() ([]string, error) {
	var all []string
	for _, pattern := range a.exports {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("--export %s: %w", pattern, err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("--export %s: no such file", pattern)
		}
		all = append(all, files...)
	}
	return all, nil
}

func (a *audit) readExport(ctx context.Context, screen *screen) (heat.Report, error) {
	o := a.options()
	var err error
	if o.Keys, err = a.exportKeys(); err != nil {
		return heat.Report{}, err
	}
	files, err := a.exportFiles()
	if err != nil {
		return heat.Report{}, err
	}
	reader, err := heat.NewExportReader(a.table, o)
	if err != nil {
		return heat.Report{}, err
	}
	for _, name := range files {
		screen.live("export: " + printable(name))
		if err := readExportFile(ctx, reader, name); err != nil {
			return heat.Report{}, err
		}
	}
	report := reader.Report()
	if stored := report.Resources[0].Stored; stored == nil || stored.Items+stored.Control.Items == 0 { // a file may be empty, but not all
		return heat.Report{}, fmt.Errorf("%s: no items", strings.Join(files, ", "))
	}
	return report, nil
}

func readExportFile(ctx context.Context, reader *heat.ExportReader, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.Close() }) // ends the read
	defer stop()
	return reader.Read(name, file)
}
