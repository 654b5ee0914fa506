package heat_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// watchRounds has a report each second, the last one for long, and returns what is logged: the second, level and message.
func watchRounds(t *testing.T, reports ...heat.Report) []string {
	t.Helper()
	var lines []string
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began, round := time.Now(), 0
		handler := slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				return slog.Int("second", int(a.Value.Time().Sub(began)/time.Second))
			case slog.LevelKey, slog.MessageKey, "kind", "severity":
				return a
			}
			return slog.Attr{}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			err := heat.Watch(ctx, time.Second, func() heat.Report {
				round++
				return reports[min(round, len(reports))-1]
			}, heat.Rules{}, slog.New(handler))
			if err != nil {
				t.Errorf("got %v when the context ended", err)
			}
		}()
		time.Sleep(time.Duration(len(reports)+10)*time.Second + time.Second/2)
		cancel()
		<-ended
		for line := range strings.Lines(log.String()) {
			lines = append(lines, strings.TrimSpace(line))
		}
	})
	return lines
}

// Rules that contradict themselves end a Watch at once. Its error is in the log too, as most have Watch in a goroutine.
func TestWatchRefusesRules(t *testing.T) {
	var log strings.Builder
	err := heat.Watch(t.Context(), time.Second, refusedSource(t), heat.Rules{Hot: 95}, slog.New(slog.NewTextHandler(&log, nil)))
	if err == nil || !strings.Contains(err.Error(), "Hot is 95: it must be between 0 and 1") || !strings.Contains(log.String(), "Hot is 95: it must be between 0 and 1") {
		t.Errorf("got %v and the log %q, want both to say what is wrong", err, log.String())
	}
}

// refusedSource is not to be asked.
func refusedSource(t *testing.T) func() heat.Report {
	return func() heat.Report {
		t.Error("the source was asked")
		return heat.Report{}
	}
}

// at is a report with a key at so many units a second; 0: nothing.
func at(rate float64) heat.Report {
	if rate == 0 {
		return report(heat.Flow{})
	}
	return report(hotFlow("POST#viral", rate, 1))
}

func rounds(rates ...float64) []heat.Report {
	var all []heat.Report
	for _, rate := range rates {
		all = append(all, at(rate))
	}
	return all
}

// A finding is logged when it comes, gets worse, has been better for three rounds or gone for three, and not in between.
func TestWatchLogsChanges(t *testing.T) {
	const critical, warning = "kind=popular-item severity=critical", "kind=popular-item severity=warning"
	message := func(rate string) string {
		return "Partition key 'POST#viral' has " + rate + " requests/sec (hot partition)"
	}
	for _, test := range []struct {
		name    string
		reports []heat.Report
		want    []string
	}{
		{"comes and stays", rounds(2000, 2000, 2100), []string{
			`second=1 level=ERROR msg="` + message("2,000") + `" ` + critical,
		}},
		{"comes and goes", rounds(2000, 2000, 0), []string{
			`second=1 level=ERROR msg="` + message("2,000") + `" ` + critical,
			`second=5 level=INFO msg="gone: ` + message("2,000") + `" kind=popular-item`,
		}},
		{"flaps around the limit of what is critical", rounds(960, 940, 955, 940, 940, 960, 940, 951), []string{
			`second=1 level=ERROR msg="` + message("960") + `" ` + critical,
		}},
		{"flaps around the limit of what is told", rounds(710, 0, 0, 705, 690, 690, 710, 0, 701), []string{
			`second=1 level=WARN msg="` + message("710") + `" ` + warning,
		}},
		{"gets worse", rounds(800, 800, 1500, 1500), []string{
			`second=1 level=WARN msg="` + message("800") + `" ` + warning,
			`second=3 level=ERROR msg="worse: ` + message("1,500") + `" ` + critical,
		}},
		{"gets better, then worse again", rounds(1500, 800, 801, 802, 803, 1600), []string{
			`second=1 level=ERROR msg="` + message("1,500") + `" ` + critical,
			`second=4 level=INFO msg="better: ` + message("802") + `" ` + warning,
			`second=6 level=ERROR msg="worse: ` + message("1,600") + `" ` + critical,
		}},
		{"comes again once it is gone", rounds(800, 0, 0, 0, 800), []string{
			`second=1 level=WARN msg="` + message("800") + `" ` + warning,
			`second=4 level=INFO msg="gone: ` + message("800") + `" kind=popular-item`,
			`second=5 level=WARN msg="` + message("800") + `" ` + warning,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := watchRounds(t, test.reports...); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
