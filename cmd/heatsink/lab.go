package main

import (
	"github.com/spf13/cobra"
)

func newLab() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Simulate tables, loads and layouts in virtual time",
		Long: `Ask what a table would do before it has to: a scenario has a table, a load and the
layouts to compare. The lab runs it in virtual time on the same partitions as heatsink
serve --physics. It needs no AWS account, and the same seed always gives the same figures.

Scenarios are YAML files. heatsink ships those of well-known documents on hot partitions;
copy one with heatsink lab show, and change it. See docs/lab.md for all fields.`,
		Example: `  heatsink lab ls
  heatsink lab run throughput
  heatsink lab show latency > mine.yaml && heatsink lab run mine.yaml --html mine.html
  heatsink audit orders --stream --json > report.json && heatsink lab replay report.json --shards 16 --adaptive`,
	}
	cmd.AddCommand(newLabRun(), newLabLs(), newLabShow(), newLabReplay(), newLabResults())
	return cmd
}
