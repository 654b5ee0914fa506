package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"
)

// A survivor is a break that no test noticed.
type survivor struct {
	File     string `json:"file"` // relative to the package
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

// A packageReport is the last line of a run on one package.
type packageReport struct {
	Package   string     `json:"package"`
	Seed      uint64     `json:"seed"`
	Breaks    int        `json:"breaks"`
	Caught    int        `json:"caught"`
	Timeouts  int        `json:"timeouts"` // of those that were caught
	Survivors []survivor `json:"survivors"`
}

// breakPackage makes count random breaks of a package, one at a time, and reports those that its tests do not notice.
func breakPackage(ctx context.Context, o options, pattern string, count int, seed uint64, stdout io.Writer) error {
	p, err := loadTests(ctx, o.dir, pattern)
	if err != nil {
		return err
	}
	changes, err := candidates(p.files)
	if err != nil {
		return err
	}
	shuffle(changes, seed)
	work, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fmt.Fprintf(o.progress, "%s: %d ways to break it\n", p.path, len(changes))
	d := &draw{options: o, suite: &suite{tests: p, binary: filepath.Join(work, "woven.test")}, want: count, work: work}
	d.free = sync.NewCond(&d.mu)
	if err := d.prepare(ctx, changes); err != nil {
		return err
	}
	if err := d.run(ctx); err != nil {
		return err
	}
	return d.report(seed, stdout)
}

// candidates are all changes of some files.
func candidates(files []string) (changes []change, err error) {
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		more, err := changesOf(file, src)
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	return changes, nil
}

// A verdict says what became of a change.
type verdict int

const (
	untried verdict = iota
	void            // it does not compile, or is the same program
	caught
	timedOut
	survived
)

// A draw tries changes in their order until as many as wanted are valid. Which those are does not depend on timing: no
// change is tried unless it is needed even if all that are being tried turn out to be valid.
type draw struct {
	options
	suite   *suite
	changes []change
	want    int
	work    string
	whole   [sha256.Size]byte // the assembly of the package as it is

	mu       sync.Mutex
	free     *sync.Cond // a change was tried, or the draw is over
	next     int        // the first change that nobody has taken
	trying   int
	valid    int
	verdicts []verdict
	err      error
}

// prepare weaves as many changes as may be needed into one copy of the package, builds its tests, and sees them pass while none is
// chosen.
func (d *draw) prepare(ctx context.Context, changes []change) (err error) {
	nothing, err := writeOverlay(d.work, map[string]string{})
	if err != nil {
		return err
	}
	if d.whole, err = d.suite.assembly(ctx, nothing); err != nil {
		return err
	}
	if changes, err = d.compiling(ctx, changes[:min(len(changes), 2*d.want+20)]); err != nil {
		return err
	}
	d.changes = changes[:min(len(changes), d.want+d.want/10+10)] // some turn out to be the same program
	d.verdicts = make([]verdict, len(d.changes))
	if err := d.weave(ctx, d.changes, map[int]bool{}); err != nil {
		return err
	}
	begin := time.Now()
	if err := d.suite.probe(ctx, d.options, d.work); err != nil {
		return err
	}
	fmt.Fprintf(d.progress, "%s: %d tests pass while nothing is broken, in %s\n", d.suite.path, len(d.suite.cases), time.Since(begin).Round(time.Millisecond))
	return nil
}

// weave builds the tests with changes woven in, without those that are bad.
func (d *draw) weave(ctx context.Context, changes []change, bad map[int]bool) (err error) {
	if d.suite.overlay, err = weave(d.work, d.suite.tests, changes, bad); err != nil {
		return err
	}
	if err = d.suite.build(ctx, d.suite.overlay, d.suite.binary); err != nil {
		err = fmt.Errorf("package %s with breaks woven in: %w", d.suite.path, err)
	}
	return err
}

// compiling returns the changes without those that do not compile. It cannot tell of those that are not woven.
func (d *draw) compiling(ctx context.Context, changes []change) ([]change, error) {
	bad := map[int]bool{}
	for err := d.weave(ctx, changes, bad); err != nil; err = d.weave(ctx, changes, bad) {
		found := faulty(err.Error())
		if !errors.Is(err, errCompile) || len(found) == 0 {
			return nil, err
		}
		for _, i := range found {
			bad[i] = true
		}
	}
	var good []change
	for i, c := range changes {
		if !bad[i] {
			good = append(good, c)
		}
	}
	return good, nil
}

func (d *draw) run(ctx context.Context) error {
	var workers sync.WaitGroup
	for n := range d.parallel {
		dir := filepath.Join(d.work, fmt.Sprint("worker-", n))
		workers.Go(func() {
			for i, ok := d.take(); ok; i, ok = d.take() {
				v, err := d.try(ctx, i, dir)
				d.note(i, v, err)
			}
		})
	}
	workers.Wait()
	return d.err
}

// take returns a change that is needed, waiting until it is known whether one is.
func (d *draw) take() (i int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.err == nil && d.valid < d.want && d.next < len(d.changes) {
		if d.valid+d.trying < d.want {
			d.trying++
			d.next++
			return d.next - 1, true
		}
		d.free.Wait()
	}
	return 0, false
}

// try runs the tests on one change, in a directory of the worker's own.
func (d *draw) try(ctx context.Context, i int, dir string) (verdict, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return untried, err
	}
	c := d.changes[i]
	src, err := os.ReadFile(c.file)
	if err != nil {
		return untried, err
	}
	broken, err := overlay(dir, c.file, c.apply(src))
	if err != nil {
		return untried, err
	}
	var o outcome
	if c.isWoven() {
		o, err = d.suite.try(ctx, i, d.least)
	} else {
		o, err = d.suite.tryUnwoven(ctx, broken, filepath.Join(dir, "broken.test"), d.least)
	}
	switch {
	case errors.Is(err, errCompile):
		return void, nil
	case err != nil:
		return untried, err
	case o.timeout:
		return timedOut, nil
	case !o.passed:
		return caught, nil
	}
	if c.generic {
		return survived, nil // it has no code of its own to compare
	}
	switch code, err := d.suite.assembly(ctx, broken); {
	case errors.Is(err, errCompile): // alone it leaves an import or a variable unused, and woven it does not
		return survived, nil
	case err != nil:
		return untried, err
	case code == d.whole:
		return void, nil
	}
	return survived, nil
}

func (d *draw) note(i int, v verdict, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.free.Broadcast()
	d.trying--
	if err != nil {
		d.err = errors.Join(d.err, err)
		return
	}
	d.verdicts[i] = v
	if v == void {
		return
	}
	d.valid++
	c := d.changes[i]
	text := map[verdict]string{caught: "caught", timedOut: "caught by its time limit", survived: "SURVIVED"}[v]
	fmt.Fprintf(d.progress, "%d of %d, %s: %s:%d (%s) %s\n", d.valid, d.want, text, filepath.Base(c.file), c.line, c.operator, cmp.Or(c.after, c.before))
}

// report prints the survivors, and everything as JSON in the last line.
func (d *draw) report(seed uint64, stdout io.Writer) error {
	r := packageReport{Package: d.suite.path, Seed: seed, Survivors: []survivor{}}
	for i, c := range d.changes {
		switch d.verdicts[i] {
		case untried, void:
			continue
		case timedOut:
			r.Timeouts++
			r.Caught++
		case caught:
			r.Caught++
		case survived:
			r.Survivors = append(r.Survivors, survivor{filepath.Base(c.file), c.line, c.operator, c.before, c.after})
		}
		r.Breaks++
	}
	if r.Breaks < d.want {
		fmt.Fprintf(d.progress, "%s: %d breaks were wanted, and %d were found\n", d.suite.path, d.want, r.Breaks)
	}
	table := tabwriter.NewWriter(stdout, 0, 4, 2, ' ', 0)
	for _, s := range r.Survivors {
		fmt.Fprintf(table, "%s:%d\t%s\t- %s\n\t\t+ %s\n", s.File, s.Line, s.Operator, s.Before, s.After)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(r)
}
