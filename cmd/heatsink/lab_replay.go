package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/lab/replay"
)

func newLabReplay() *cobra.Command {
	var out labOutput
	var o replay.Options
	var yaml bool
	cmd := &cobra.Command{
		Use:   "replay REPORT",
		Short: "Simulate recorded traffic with other layouts",
		Long: `Replay the traffic of a report in virtual time: its rates over time, its hottest keys and
its table. What if these keys had 16 shards, or adaptive ones?

The report is a file from heatsink audit --json or top --json, or - for stdin. It names the
hottest keys; all others get equal parts of the rest. A report of more than an hour is
replayed for ten minutes at its average rate.`,
		Example: `  heatsink audit orders --stream --json > report.json
  heatsink top orders --endpoint http://127.0.0.1:8000 --once --json > report.json
  heatsink lab replay report.json --shards 16 --adaptive
  heatsink lab replay report.json --shards 4,16,64 --partitions 20 --html what-if.html
  heatsink lab replay report.json --yaml > mine.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, _, err := readReports(cmd.Context(), args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if len(reports) == 0 {
				return errors.New("the document has no report")
			}
			source := &reports[0]
			s, err := replay.Scenario(source, o)
			for i := 1; err != nil && i < len(reports); i++ { // of several sources, the first that shows traffic
				source = &reports[i]
				s, err = replay.Scenario(source, o)
			}
			if err != nil {
				return err
			}
			if yaml {
				text, err := s.YAML()
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write([]byte(text))
				return err
			}
			result, err := out.run(cmd, s)
			if err != nil {
				return err
			}
			if doubt := replay.Doubt(source, o, result.Runs[0].Throttled); doubt != "" {
				newScreen(cmd.ErrOrStderr()).say("warning: %s", doubt)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Table, "table", "", "table of the report; default: the one with most units")
	flags.IntSliceVar(&o.Shards, "shards", nil, "compare with so many shards; several numbers are several runs")
	flags.BoolVar(&o.Adaptive, "adaptive", false, "compare with an adaptive layout")
	flags.IntVar(&o.Partitions, "partitions", 0, "partitions of the table; default: as its capacity needs")
	flags.Uint64Var(&o.Seed, "seed", 1, "where all randomness starts from")
	flags.BoolVar(&yaml, "yaml", false, "print the scenario instead of running it")
	out.register(cmd)
	return cmd
}
