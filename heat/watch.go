package heat

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Watch explains what source reports every so often and logs findings when they appear, and when they are gone, until ctx
// ends:
//
//	go heat.Watch(ctx, 10*time.Second, recorder.Report, heat.Rules{}, slog.Default())
//
// A finding is logged once for as long as it stays, at the level of its severity: Error if it is critical. every is ten
// seconds if it is not positive. Watch panics at once if the rules contradict themselves.
func Watch(ctx context.Context, every time.Duration, source func() Report, rules Rules, logger *slog.Logger) {
	if err := rules.Validate(); err != nil {
		panic(fmt.Sprintf("heat: invalid rules: %v", err))
	}
	if every <= 0 {
		every = 10 * time.Second
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	known := make(map[findingID]Finding)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			known = logChanges(ctx, logger, known, Explain(source(), rules))
		}
	}
}

// findingID tells findings apart; their figures change all the time.
type findingID struct {
	Resource
	kind      Kind
	severity  Severity
	direction Direction
	subject   string
}

func (f Finding) id() findingID {
	subject := f.Key
	if subject == "" {
		subject = f.Pattern
	}
	return findingID{f.Resource, f.Kind, f.Severity, f.Direction, subject}
}

func logChanges(ctx context.Context, logger *slog.Logger, known map[findingID]Finding, findings []Finding) map[findingID]Finding {
	now := make(map[findingID]Finding, len(findings))
	for _, f := range findings {
		now[f.id()] = f
		if _, old := known[f.id()]; !old {
			logger.LogAttrs(ctx, f.Severity.level(), f.Message, f.attributes()...)
		}
	}
	for id, f := range known {
		if _, still := now[id]; !still {
			logger.LogAttrs(ctx, slog.LevelInfo, "gone: "+f.Message, f.attributes()[:3]...)
		}
	}
	return now
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
		slog.String("cause", f.Cause), slog.String("remedy", f.Remedy),
	}
}
