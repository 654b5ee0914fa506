package heat

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Watch explains the reports of source at intervals, and logs each finding when it appears, gets worse or better, and
// disappears, until ctx ends:
//
//	go heat.Watch(ctx, 10*time.Second, recorder.Report, heat.Rules{}, slog.Default())
//
// Watch logs a finding once while it lasts, at the level of its severity: Error if it is critical. If the severity rises,
// Watch logs the finding again at once, at the new level, as "worse: …". So that a value near a limit does not fill the log,
// better news waits for three rounds in a row. "better: …" means that the finding was milder in each of them, and has the
// worst severity of the three; "gone: …" means that it was missing. Both have level Info. every is the length of a round,
// ten seconds if it is not positive.
//
// Watch returns nil when ctx ends. If the rules are invalid, it logs the error and returns it at once.
func Watch(ctx context.Context, every time.Duration, source func() Report, rules Rules, logger *slog.Logger) error {
	if err := rules.Validate(); err != nil {
		err = fmt.Errorf("watch heat: invalid rules: %w", err)
		logger.ErrorContext(ctx, err.Error()) // go heat.Watch(…) drops what is returned
		return err
	}
	if every <= 0 {
		every = 10 * time.Second
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	w := watch{logger: logger, known: make(map[findingID]*watched)}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			w.round(ctx, Explain(source(), rules))
		}
	}
}

// settled is the number of rounds in a row after which better news is logged.
const settled = 3

// watch is the findings logged so far.
type watch struct {
	logger *slog.Logger
	known  map[findingID]*watched
}

// watched is a logged finding that is not gone.
type watched struct {
	Finding           // as it was last seen
	said     Severity // as it was last logged
	milder   int      // rounds in a row in which it was there and milder than that
	mildness Severity // the worst of these
	missing  int      // rounds in a row in which it was not there
}

// findingID tells findings apart; their figures and their severity change all the time.
type findingID struct {
	Resource
	kind      Kind
	direction Direction
	subject   string
}

func (f Finding) id() findingID {
	return findingID{f.Resource, f.Kind, f.Direction, cmp.Or(f.Key, f.Pattern)}
}

// round logs changes. Findings come worst first: of several with the same id the first counts.
func (w *watch) round(ctx context.Context, findings []Finding) {
	now := make(map[findingID]bool, len(findings))
	for _, f := range findings {
		id := f.id()
		if now[id] {
			continue
		}
		now[id] = true
		if known := w.known[id]; known != nil {
			w.compare(ctx, known, f)
			continue
		}
		w.known[id] = &watched{Finding: f, said: f.Severity}
		w.logger.LogAttrs(ctx, f.Severity.level(), f.Message, f.attributes()...)
	}
	for id, known := range w.known {
		if now[id] {
			continue
		}
		if known.missing++; known.missing >= settled {
			delete(w.known, id)
			w.logger.LogAttrs(ctx, slog.LevelInfo, "gone: "+known.Message, known.attributes()[:3]...)
		}
	}
}

// compare logs a finding that is still there if its severity has changed.
func (w *watch) compare(ctx context.Context, known *watched, f Finding) {
	known.Finding, known.missing = f, 0
	switch {
	case f.Severity > known.said:
		known.said, known.milder = f.Severity, 0
		w.logger.LogAttrs(ctx, f.Severity.level(), "worse: "+f.Message, f.attributes()...)
		return
	case f.Severity == known.said:
		known.milder = 0
		return
	case known.milder == 0:
		known.mildness = f.Severity
	}
	known.mildness = max(known.mildness, f.Severity)
	if known.milder++; known.milder >= settled {
		known.said, known.milder = known.mildness, 0
		f.Severity = known.said
		w.logger.LogAttrs(ctx, slog.LevelInfo, "better: "+f.Message, f.attributes()...)
	}
}

func (s Severity) level() slog.Level {
	switch s {
	case Critical:
		return slog.LevelError
	case Warning:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

func (f Finding) attributes() []slog.Attr {
	return []slog.Attr{
		slog.String("resource", f.Resource.String()), slog.String("kind", string(f.Kind)), slog.String("key", f.Key),
		slog.String("direction", f.Direction.String()), slog.Any("evidence", f.Evidence),
		slog.String("cause", f.Cause), slog.String("remedy", f.Remedy), slog.String("severity", f.Severity.String()),
	}
}
