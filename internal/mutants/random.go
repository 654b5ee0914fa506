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

	fmt.Fprintf(o.progress, "%s: %d ways to break it; its tests as they are\n", p.path, len(changes))
	whole, err := unbroken(ctx, p, work)
	if err != nil {
		return err
	}
	limit := max(o.least, 3*whole.took)
	fmt.Fprintf(o.progress, "%s: passed in %s, so a broken run may take %s\n", p.path, whole.took.Round(time.Millisecond), limit.Round(time.Millisecond))

	d := &draw{p: p, changes: changes, want: count, work: work, whole: whole, limit: limit, progress: o.progress, verdicts: make([]verdict, len(changes))}
	d.free = sync.NewCond(&d.mu)
	if err := d.run(ctx, o.parallel); err != nil {
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

// A whole is the package as it is: hashes to know it by, and how long its tests take.
type whole struct {
	binary, assembly [sha256.Size]byte
	took             time.Duration
}

// unbroken builds and runs the tests as they are: if they fail, every break would seem to be caught.
func unbroken(ctx context.Context, p *tests, work string) (w whole, err error) {
	nothing, err := writeOverlay(work, map[string]string{})
	if err != nil {
		return w, err
	}
	binary := filepath.Join(work, "whole.test")
	if w.binary, err = p.build(ctx, nothing, binary); err != nil {
		return w, fmt.Errorf("package %s as it is: %w", p.path, err)
	}
	if w.assembly, err = p.assembly(ctx, nothing); err != nil {
		return w, err
	}
	o, err := p.run(ctx, nothing, binary, "", buildTime)
	if err != nil {
		return w, err
	}
	if !o.passed {
		return w, fmt.Errorf("package %s: its tests fail as it is; mend them first\n%s", p.path, o.output)
	}
	w.took = o.took
	return w, os.Remove(binary)
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
// change is tried unless it is needed even if all that are being built turn out to be valid.
type draw struct {
	p        *tests
	changes  []change
	want     int
	work     string
	whole    whole
	limit    time.Duration
	progress io.Writer

	mu       sync.Mutex
	free     *sync.Cond // a change was built, or the draw is over
	next     int        // the first change that nobody has taken
	building int
	valid    int
	done     int
	verdicts []verdict
	err      error
}

func (d *draw) run(ctx context.Context, parallel int) error {
	var workers sync.WaitGroup
	for n := range parallel {
		workers.Go(func() {
			for {
				i, ok := d.take()
				if !ok {
					return
				}
				d.try(ctx, i, filepath.Join(d.work, fmt.Sprint("worker-", n)))
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
		if d.valid+d.building < d.want {
			d.building++
			d.next++
			return d.next - 1, true
		}
		d.free.Wait()
	}
	return 0, false
}

// try builds and tests one change, in a directory of the worker's own.
func (d *draw) try(ctx context.Context, i int, dir string) {
	path, err := d.build(ctx, d.changes[i], dir)
	d.mu.Lock()
	d.building--
	switch {
	case errors.Is(err, errCompile) || errors.Is(err, errSame):
		d.verdicts[i] = void
	case err != nil:
		d.err = errors.Join(d.err, err)
	default:
		d.valid++
	}
	d.free.Broadcast()
	d.mu.Unlock()
	if err != nil {
		return
	}

	o, err := d.p.run(ctx, path, filepath.Join(dir, "broken.test"), "", d.limit)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.err = errors.Join(d.err, err)
		d.free.Broadcast()
		return
	}
	c := d.changes[i]
	d.verdicts[i] = survived
	text := "SURVIVED"
	switch {
	case o.timeout:
		d.verdicts[i], text = timedOut, "caught by its time limit"
	case !o.passed:
		d.verdicts[i], text = caught, "caught"
	}
	d.done++
	fmt.Fprintf(d.progress, "%d of %d, %s: %s:%d (%s) %s\n", d.done, d.want, text, filepath.Base(c.file), c.line, c.operator, cmp.Or(c.after, c.before))
}

// errSame is returned for a change that makes no difference.
var errSame = errors.New("it is the same program")

func (d *draw) build(ctx context.Context, c change, dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	src, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	path, err = overlay(dir, c.file, c.apply(src))
	if err != nil {
		return "", err
	}
	sum, err := d.p.build(ctx, path, filepath.Join(dir, "broken.test"))
	if err != nil || sum != d.whole.binary || c.generic {
		return path, err // a generic function has no code of its own to compare
	}
	code, err := d.p.assembly(ctx, path)
	if err == nil && code == d.whole.assembly {
		err = errSame
	}
	return path, err
}

// report prints the survivors, and everything as JSON in the last line.
func (d *draw) report(seed uint64, stdout io.Writer) error {
	r := packageReport{Package: d.p.path, Seed: seed, Survivors: []survivor{}}
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
		fmt.Fprintf(d.progress, "%s: %d breaks were wanted, and there are %d that compile\n", d.p.path, d.want, r.Breaks)
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
