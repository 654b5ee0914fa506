package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
)

// report is what the program prints of a checkout.
type report struct {
	figures

	Missed  []string `json:"missed"`           // goals that are not met
	Before  *figures `json:"before,omitempty"` // as recorded
	Seconds float64  `json:"seconds,omitempty"`
}

// writeJSON prints the report as one line.
func (r report) writeJSON(out io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

// write prints the report for people.
func (r report) write(out io.Writer, benchmarks string) {
	heading(out, "the structure, before (%s) and now (%s)", r.Before.name(), r.name())
	table(out, "what\tbefore\tnow\tgoal\t", func(row func(...any)) {
		for _, n := range numbers(*r.Before, r.figures) {
			mark := ""
			if n.Missed {
				mark = "missed"
			}
			row(n.What, n.Before, n.Now, n.Goal, mark)
		}
	})

	heading(out, "types with most methods, now")
	table(out, "type\tmethods\tfiles", func(row func(...any)) {
		for _, t := range r.Types {
			row(t.name(), t.Methods, t.Files)
		}
	})

	heading(out, "types and functions that each public package exports")
	table(out, "package\tbefore\tnow", func(row func(...any)) {
		for _, dir := range packagesOf(r.Before.Names, r.Names) {
			row(dir, exported(r.Before.Names, dir).text, exported(r.Names, dir).text)
		}
	})

	heading(out, "files on the way, now")
	if r.Ways.Error != "" {
		fmt.Fprintf(out, "not measured: %s\n", r.Ways.Error)
	} else {
		fmt.Fprintf(out, "Put    %s\n       %s\n", strings.Join(r.Ways.Put.Root, " "), strings.Join(r.Ways.Put.Others, " "))
		fmt.Fprintf(out, "Query  %s\n       %s\n", strings.Join(r.Ways.Query.Root, " "), strings.Join(r.Ways.Query.Others, " "))
	}

	heading(out, "functions longer than %d lines, now", longFunction)
	list(out, r.LongFunctions)
	heading(out, "the largest of %d clones, now", r.Clones)
	list(out, r.Largest)
	heading(out, "packages of the module that the library links, now")
	list(out, r.Links)

	heading(out, "benchmarks, as recorded: make bench BENCHOUT=FILE at each of two commits, then benchstat FILE FILE")
	fmt.Fprintln(out, benchmarks)

	heading(out, "verdict")
	if len(r.Missed) == 0 {
		fmt.Fprintln(out, "every goal is met")
	} else {
		fmt.Fprintf(out, "%d goals are missed:\n  %s\n", len(r.Missed), strings.Join(r.Missed, "\n  "))
	}
}

func heading(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "\n== "+format+"\n", args...)
}

// table prints rows below a head, in columns.
func table(out io.Writer, head string, rows func(row func(...any))) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	rows(func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = fmt.Sprint(c)
		}
		fmt.Fprintln(w, strings.Join(texts, "\t"))
	})
	w.Flush()
}

// list prints one element on each line.
func list[T any](out io.Writer, all []T) {
	if len(all) == 0 {
		fmt.Fprintln(out, "none")
	}
	for _, x := range all {
		fmt.Fprintln(out, x)
	}
}

// name returns the commit as people name it.
func (f figures) name() string {
	name := cmp.Or(f.Commit[:min(12, len(f.Commit))], "unknown commit")
	if f.Modified {
		name += " with changes"
	}
	return name
}

// packagesOf returns the directories that either has, in order.
func packagesOf(before, now []names) []string {
	dirs := map[string]bool{}
	for _, all := range [][]names{before, now} {
		for _, n := range all {
			dirs[n.Package] = true
		}
	}
	return sortedKeys(dirs)
}

// recordedBefore reads the figures to compare with.
func recordedBefore(files fs.FS) (*figures, error) {
	text, err := fs.ReadFile(files, "testdata/before.json")
	if err != nil {
		return nil, err
	}
	before := &figures{}
	if err := json.Unmarshal(text, before); err != nil {
		return nil, fmt.Errorf("read testdata/before.json: %w; record it again", err)
	}
	return before, nil
}

// recordedBenchmarks reads the comparison of benchmarks, which is no part of the verdict.
func recordedBenchmarks(files fs.FS) (string, error) {
	text, err := fs.ReadFile(files, "testdata/benchmarks.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return "not recorded", nil
	}
	return strings.TrimRight(string(text), "\n"), err
}
