package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A report is the result of a run. All figures are medians over rounds or starts.
type report struct {
	Machine string   `json:"machine"`
	Method  string   `json:"method"`
	Servers []server `json:"servers"`
	Skipped []skip   `json:"skipped,omitempty"`
	Results []result `json:"results"`
	Goals   []goal   `json:"goals"`
}

type server struct {
	Name        string  `json:"name"`
	Version     string  `json:"version,omitempty"`
	Items       int     `json:"items"`
	StartMillis float64 `json:"start_ms"`
	IdleMB      float64 `json:"idle_mb"`   // resident memory, 0 if unknown
	LoadedMB    float64 `json:"loaded_mb"` // resident memory with Items stored, 0 if unknown
}

type skip struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type result struct {
	Workload     string  `json:"workload"`
	Server       string  `json:"server"`
	PerSecond    float64 `json:"ops_per_second"`
	P50Micros    float64 `json:"p50_us"`
	P99Micros    float64 `json:"p99_us"`
	ServerMicros float64 `json:"server_cpu_us_per_op"` // 0 if unknown
	ClientMicros float64 `json:"client_cpu_us_per_op"` // 0 if unknown
}

func newReport(o options) *report {
	return &report{
		Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Method: fmt.Sprintf("%d connections, medians of %d rounds of %v per server and workload",
			o.conns, o.rounds, o.duration),
		Servers: []server{}, Results: []result{}, Goals: []goal{}, // in JSON: empty, not null
	}
}

// readReport reads what an earlier run printed with -json.
func readReport(file string) (*report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s is no report of -json: %w", file, err)
	}
	if !slices.ContainsFunc(r.Results, func(r result) bool { return r.Server == "heatsink" }) {
		return nil, fmt.Errorf("%s has no figures of heatsink", file)
	}
	return r, nil
}

func (r *report) skip(name string, err error) {
	r.Skipped = append(r.Skipped, skip{Name: name, Reason: err.Error()})
}

// skipped says whether the named engine could not take part.
func (r *report) skipped(name string) bool {
	return slices.ContainsFunc(r.Skipped, func(s skip) bool { return s.Name == name })
}

// missed says whether a goal was.
func (r *report) missed() bool {
	return slices.ContainsFunc(r.Goals, func(g goal) bool { return g.Verdict == verdict(false) })
}

// add takes over what was measured.
func (r *report) add(all field, workloads []workload) {
	for _, c := range all {
		r.Servers = append(r.Servers, server{
			Name: c.Name, Version: c.Version, Items: c.stored,
			StartMillis: startMillis(c), IdleMB: megabytes(c.idle), LoadedMB: megabytes(c.loaded),
		})
	}
	for _, w := range workloads {
		for _, c := range all {
			s := c.samples[w.name]
			r.Results = append(r.Results, result{
				Workload: w.name, Server: c.Name,
				PerSecond:    medianOf(s, func(s sample) float64 { return s.perSecond }),
				P50Micros:    medianOf(s, func(s sample) float64 { return micros(s.p50) }),
				P99Micros:    medianOf(s, func(s sample) float64 { return micros(s.p99) }),
				ServerMicros: medianOf(s, func(s sample) float64 { return micros(s.server) }),
				ClientMicros: medianOf(s, func(s sample) float64 { return micros(s.client) }),
			})
		}
	}
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) writeText(out io.Writer) error {
	w := bufio.NewWriter(out) // keeps the first error for Flush
	fmt.Fprintf(w, "%s\n%s\n", r.Machine, r.Method)
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "%s: SKIPPED: %s\n", s.Name, s.Reason)
	}
	if len(r.Servers) > 0 {
		fmt.Fprintf(w, "\n%-24s %9s %9s %9s %9s\n", "server", "start ms", "idle MB", "loaded MB", "items")
		for _, s := range r.Servers {
			fmt.Fprintf(w, "%-24s %9.1f %9s %9s %9d\n", strings.TrimSpace(s.Name+" "+s.Version),
				s.StartMillis, known(s.IdleMB), known(s.LoadedMB), s.Items)
		}
		fmt.Fprintf(w, "\n%-8s %-24s %9s %9s %9s %14s %14s\n", "workload", "server", "ops/s", "p50 us", "p99 us",
			"server CPU us", "client CPU us")
		for _, s := range r.Results {
			fmt.Fprintf(w, "%-8s %-24s %9.0f %9.0f %9.0f %14s %14s\n", s.Workload, s.Server,
				s.PerSecond, s.P50Micros, s.P99Micros, known(s.ServerMicros), known(s.ClientMicros))
		}
	}
	if len(r.Goals) > 0 {
		fmt.Fprintf(w, "\n%-44s %9s %-6s %s\n", "figure", "value", "", "target")
		for _, g := range r.Goals {
			line := fmt.Sprintf("%-44s %9.2f %-6s %-8s %s", g.What, g.Value, g.Unit, g.bound(), g.Verdict)
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
	return w.Flush()
}

// known shows a figure that not every system can give.
func known(figure float64) string {
	if figure == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", figure)
}

func startMillis(c *contestant) float64 {
	return medianOf(c.starts, func(d time.Duration) float64 { return micros(d) / 1000 })
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

func medianOf[T any](values []T, figure func(T) float64) float64 {
	figures := make([]float64, len(values))
	for i, v := range values {
		figures[i] = figure(v)
	}
	return median(figures)
}

// median is the middle value, or the mean of the middle two. It reorders its argument and wants at least one value.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
