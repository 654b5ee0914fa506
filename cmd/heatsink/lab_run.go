package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/lab/report"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

func newLabRun() *cobra.Command {
	var out labOutput
	var seed uint64
	var aggregate bool
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run a scenario",
		Long: `Run a scenario that ships with heatsink, or that of a YAML file, once for each of its
layouts. A name with a dot or a slash is a file.

The table has capacity units a second (offered, served), shares of requests and operations
(throttled, failed), latencies with retries, and the partitions. --json has everything:

  scenario      with its defaults
  runs[]        layout, carried, offered, accepted, failed, waiting (operations),
                offeredUnits, servedUnits (per second), requests, throttled, reasons,
                latency (p50, p99, p999, max in nanoseconds), partitions, partitionsAtEnd,
                busiest, width
  runs[].series at, offered, served, throttled, failed, partitions, width

A scenario with too many requests is refused; mode aggregate runs it, without latencies.`,
		Example: `  heatsink lab run throughput
  heatsink lab run latency --seed 7
  heatsink lab run ./mine.yaml --html mine.html
  heatsink lab run cost --json | jq '.runs[] | {layout, servedUnits}'
  heatsink lab run adaptive --csv > adaptive.csv
  heatsink lab run million`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("seed") {
				s.Seed = seed
			}
			if aggregate {
				s.Mode = scenario.Aggregate
			}
			_, err = out.run(cmd, s)
			return err
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "where all randomness starts from")
	cmd.Flags().BoolVar(&aggregate, "aggregate", false, "simulate quantities per tick instead of requests")
	out.register(cmd)
	return cmd
}

// readScenario returns a scenario that ships with heatsink, or that of a file.
func readScenario(name string) (scenario.Scenario, error) {
	if !strings.ContainsAny(name, `./\`) {
		return scenario.Find(name)
	}
	text, err := readFile(name, scenario.MaxFile)
	if err != nil {
		return scenario.Scenario{}, err
	}
	return scenario.Parse(name, text)
}

// readFile reads a regular file of so many bytes at most. To open a pipe would wait for its writer, and a device has no end.
func readFile(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: write the scenario into one", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes, the most that a scenario may have", name, most)
	}
	return text, err
}

// labOutput is how results are shown.
type labOutput struct {
	json, csv bool
	html      string
}

func (o *labOutput) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print the series of all runs as CSV")
	cmd.Flags().StringVar(&o.html, "html", "", "write a report with plots into this `file`, or - for stdout")
}

// run runs a scenario, shows the result, and returns it.
func (o *labOutput) run(cmd *cobra.Command, s scenario.Scenario) (*simulate.Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.html != "" && o.html != "-" {
		if err := checkOutput(o.html); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	progress := newScreen(cmd.ErrOrStderr())
	started, said := time.Now(), time.Now()
	result, err := simulate.Scenario(cmd.Context(), s, simulate.Options{Progress: func(layout string, done float64) {
		text := fmt.Sprintf("%3.0f %%  %s", 100*done, printable(layout))
		progress.live(text)
		if !progress.terminal && time.Since(said) > 10*time.Second {
			said = time.Now()
			progress.say("%s, after %v", text, time.Since(started).Round(time.Second))
		}
	}})
	progress.clear()
	if errors.Is(err, context.Canceled) {
		progress.say("interrupted: there is no result")
	}
	if err != nil {
		return nil, err
	}
	return &result, o.write(cmd, &result)
}

// check refuses two documents on stdout.
func (o *labOutput) check() error {
	var taken []string
	for flag, given := range map[string]bool{"--json": o.json, "--csv": o.csv, "--html -": o.html == "-"} {
		if given {
			taken = append(taken, flag)
		}
	}
	if len(taken) < 2 {
		return nil
	}
	slices.Sort(taken)
	return fmt.Errorf("%s write to stdout: give one of them", strings.Join(taken, " and "))
}

// write prints a result, also if its file cannot be written: the simulation may have taken long.
func (o *labOutput) write(cmd *cobra.Command, result *simulate.Result) error {
	if o.html == "-" {
		return report.HTML(cmd.OutOrStdout(), result)
	}
	var fault error
	if o.html != "" {
		fault = writeOutput(o.html, func(w io.Writer) error { return report.HTML(w, result) })
		if fault != nil {
			fault = fmt.Errorf("--html: %w", fault)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", printable(o.html))
		}
	}
	switch {
	case o.json:
		return errors.Join(report.JSON(cmd.OutOrStdout(), result), fault)
	case o.csv:
		return errors.Join(report.CSV(cmd.OutOrStdout(), result), fault)
	}
	return errors.Join(report.Table(cmd.OutOrStdout(), result), fault)
}
