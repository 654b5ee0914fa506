package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// A rowReport is the last line of a run on rows.
type rowReport struct {
	Rows     int      `json:"rows"`
	Breaks   int      `json:"breaks"`
	Caught   int      `json:"caught"`
	Missed   []string `json:"missed"`             // rows without a break, and "row file:line" of breaks that no named test noticed
	Unproved []string `json:"unproved,omitempty"` // rows that name no test yet
}

// breakRows runs the written breaks of the rows whose ids begin with one of ids, or of all of them, each against the
// tests that its row names. The code is 1 if a row has no break, or one that its tests do not notice.
func breakRows(ctx context.Context, o options, ids []string, stdout io.Writer) (code int, err error) {
	root, module, err := moduleRoot(ctx, o.dir)
	if err != nil {
		return 0, err
	}
	rows, err := readRequirements(root)
	if err != nil {
		return 0, err
	}
	if rows, err = selectRows(rows, ids); err != nil {
		return 0, err
	}
	breaks, err := readRowBreaks(root)
	if err != nil {
		return 0, err
	}
	jobs, missing, unproved := plan(rows, breaks)
	work, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	t := &trial{
		root: root, module: module, work: work, least: o.least, progress: o.progress, jobs: jobs,
		packages: map[string]*tests{}, took: map[string]time.Duration{},
	}
	if err := t.unbroken(ctx); err != nil {
		return 0, err
	}
	if err := t.run(ctx, o.parallel); err != nil {
		return 0, err
	}
	return t.report(rowReport{Rows: len(rows), Breaks: len(jobs), Missed: missing, Unproved: unproved}, stdout)
}

// moduleRoot returns the directory and the path of the module around dir.
func moduleRoot(ctx context.Context, dir string) (root, module string, err error) {
	out, err := command(ctx, dir, nil, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	if err != nil {
		return "", "", fmt.Errorf("go list -m: %w\n%s", err, out)
	}
	module, root, _ = strings.Cut(strings.TrimSpace(out), " ")
	return root, module, nil
}

func selectRows(rows []requirement, ids []string) (selected []requirement, err error) {
	if len(ids) == 0 {
		return rows, nil
	}
	for _, id := range ids {
		matches := func(r requirement) bool { return strings.HasPrefix(r.id, id) }
		if !slices.ContainsFunc(rows, matches) {
			return nil, fmt.Errorf("row %s: docs/requirements.md has none", id)
		}
	}
	for _, r := range rows {
		if slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(r.id, id) }) {
			selected = append(selected, r)
		}
	}
	return selected, nil
}

// A job is one break and what became of it.
type job struct {
	rowBreak
	proofs []proof
	by     string // the package whose tests noticed it, and how
}

// plan joins rows and breaks. It says which rows have no break, and which cannot have one, as they name no test yet.
func plan(rows []requirement, breaks []rowBreak) (jobs []*job, missing, unproved []string) {
	missing = []string{}
	for _, r := range rows {
		if len(r.proofs) == 0 {
			unproved = append(unproved, r.id)
			continue
		}
		before := len(jobs)
		for _, b := range breaks {
			if b.row == r.id {
				jobs = append(jobs, &job{rowBreak: b, proofs: r.proofs})
			}
		}
		if len(jobs) == before {
			missing = append(missing, r.id)
		}
	}
	return jobs, missing, unproved
}

// A trial tries the jobs side by side.
type trial struct {
	root     string
	module   string // the import path of root
	work     string
	least    time.Duration
	progress io.Writer
	jobs     []*job
	packages map[string]*tests
	took     map[string]time.Duration // by the tests of a package as they are

	mu   sync.Mutex
	done int
}

func (t *trial) run(ctx context.Context, parallel int) error {
	return each(ctx, parallel, len(t.jobs), func(worker, i int) error {
		err := t.try(ctx, t.jobs[i], filepath.Join(t.work, fmt.Sprint("worker-", worker)))
		t.note(t.jobs[i], err)
		return err
	})
}

func (t *trial) note(j *job, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	text := "caught by " + j.by
	switch {
	case err != nil:
		text = err.Error()
	case j.by == "":
		text = "MISSED"
	}
	fmt.Fprintf(t.progress, "%d of %d, %s: %s\n", t.done, len(t.jobs), j.row, text)
}

// try breaks one line and runs the named tests, package by package, until one fails.
func (t *trial) try(ctx context.Context, j *job, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, broken, err := j.open(t.root)
	if err != nil {
		return err
	}
	overlaid, err := overlay(dir, file, []byte(broken))
	if err != nil {
		return err
	}
	packages, named := byPackage(j.proofs)
	packages = t.concerned(packages, j.file)
	if len(packages) == 0 {
		return fmt.Errorf("%s: %s: no test that the row names is built from %s", j.at, j.row, j.file)
	}
	for _, pkg := range packages {
		binary := filepath.Join(dir, "row.test")
		p := t.packages[pkg]
		if err := p.build(ctx, overlaid, binary); err != nil {
			return fmt.Errorf("%s: %s: %w", j.at, j.row, err)
		}
		o, err := p.run(ctx, overlaid, binary, pattern(named[pkg]), max(t.least, 3*t.took[pkg]))
		if err != nil {
			return err
		}
		if !o.passed {
			j.by = pkg
			if o.timeout {
				j.by += " (its time limit)"
			}
			return nil
		}
	}
	return nil
}

// concerned returns the packages whose tests are built from a file: no others can notice its break. The file's own
// package comes first, which is built the fastest.
func (t *trial) concerned(packages []string, file string) (concerned []string) {
	at := path.Join(t.module, path.Dir(file))
	for _, pkg := range packages {
		switch p := t.packages[pkg]; {
		case p.path == at:
			concerned = slices.Insert(concerned, 0, pkg)
		case slices.Contains(p.deps, at):
			concerned = append(concerned, pkg)
		}
	}
	return concerned
}

// byPackage groups tests by their packages, which keep their order.
func byPackage(proofs []proof) (packages []string, named map[string][]string) {
	named = map[string][]string{}
	for _, p := range proofs {
		if named[p.pkg] == nil {
			packages = append(packages, p.pkg)
		}
		if !slices.Contains(named[p.pkg], p.test) {
			named[p.pkg] = append(named[p.pkg], p.test)
		}
	}
	return packages, named
}

// pattern is for -test.run: these tests and no others.
func pattern(named []string) string { return "^(" + strings.Join(named, "|") + ")$" }

// unbroken sees that the named tests pass as they are: if one fails, every break would seem to be caught.
func (t *trial) unbroken(ctx context.Context) error {
	var all []proof
	for _, j := range t.jobs {
		all = append(all, j.proofs...)
	}
	nothing, err := writeOverlay(t.work, map[string]string{})
	if err != nil {
		return err
	}
	packages, named := byPackage(all)
	for _, pkg := range packages {
		p, err := loadTests(ctx, t.root, pkg)
		if err != nil {
			return err
		}
		binary := filepath.Join(t.work, "whole.test")
		if err := p.build(ctx, nothing, binary); err != nil {
			return fmt.Errorf("package %s as it is: %w", pkg, err)
		}
		o, err := p.run(ctx, nothing, binary, pattern(named[pkg]), buildTime)
		if err != nil {
			return err
		}
		if !o.passed {
			return fmt.Errorf("package %s: tests that rows name fail as they are; mend them first\n%s", pkg, o.output)
		}
		t.packages[pkg], t.took[pkg] = p, o.took
		fmt.Fprintf(t.progress, "%s: %d tests pass as they are, in %s\n", pkg, len(named[pkg]), o.took.Round(time.Millisecond))
	}
	return nil
}

// report prints a line for each break, and the sum as JSON in the last line.
func (t *trial) report(r rowReport, stdout io.Writer) (code int, err error) {
	table := tabwriter.NewWriter(stdout, 0, 4, 2, ' ', 0)
	for _, row := range r.Missed {
		fmt.Fprintf(table, "%s\tNO BREAK\n", row)
	}
	for _, row := range r.Unproved {
		fmt.Fprintf(table, "%s\tnot yet proved\n", row)
	}
	for _, j := range t.jobs {
		verdict := j.by
		if j.by == "" {
			verdict = "MISSED"
			r.Missed = append(r.Missed, j.row+" "+j.at)
		} else {
			r.Caught++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t+ %s\n", j.row, verdict, j.file, j.to)
	}
	if err := table.Flush(); err != nil {
		return 0, err
	}
	if len(r.Missed) > 0 {
		code = 1
	}
	return code, json.NewEncoder(stdout).Encode(r)
}
