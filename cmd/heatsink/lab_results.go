package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/lab/results"
)

func newLabResults() *cobra.Command {
	return &cobra.Command{
		Use:   "results",
		Short: "Print what well-known documents claim beside what the lab measures",
		Long: `Run the scenarios of documents on hot partitions, and print a page in Markdown: what the
documents claim, what the lab measures, and why they differ. It is docs/results.md.`,
		Example: `  heatsink lab results > results.md`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress := newScreen(cmd.ErrOrStderr())
			defer progress.clear()
			err := results.Write(cmd.Context(), cmd.OutOrStdout(), func(name string) { progress.live("running " + name) })
			if errors.Is(err, context.Canceled) {
				progress.say("interrupted: there is no page")
			}
			return err
		},
	}
}
