package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// released is the version of a binary that make dist has built. Others know theirs by how Go has built them.
var released string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Long: `Print the version of this binary, the commit that it was built from if that is known, and what
it was built with. heatsink --version prints the version alone.`,
		Example: `  heatsink version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

// version is the version of the module that this binary was built from.
func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versionText is the version, and what else Go has noted about the build.
func versionText() string {
	return fmt.Sprintf("heatsink %s%s, %s, %s/%s", version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit is the commit that this binary was built from, if Go has noted it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return ", commit " + s.Value
		}
	}
	return ""
}
