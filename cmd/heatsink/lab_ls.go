package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

func newLabLs() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the scenarios that ship with heatsink",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range scenario.Files() {
				s, err := scenario.Find(name)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-22s %s\n", name, s.Title); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func newLabShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print the YAML of a scenario, to be changed",
		Example: `  heatsink lab show throughput > mine.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := scenario.Source(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
