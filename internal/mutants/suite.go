package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A suite is the tests of a package with changes woven in.
type suite struct {
	*tests
	overlay, binary string
	cases           []testCase // those that pass while nothing is broken, the fastest first
}

// A testCase is one function, as it ran alone while nothing was broken.
type testCase struct {
	name    string
	took    time.Duration
	reaches []int // the changes whose sites it runs: no others can make it fail
}

// reaching are the cases that may notice a change.
func (s *suite) reaching(i int) (cases []testCase) {
	for _, c := range s.cases {
		if slices.Contains(c.reaches, i) {
			cases = append(cases, c)
		}
	}
	return cases
}

// probe runs each test alone, to learn what it reaches. A test that passes only if nothing is woven is left out: it counts
// allocations, say, and the woven program has others.
func (s *suite) probe(ctx context.Context, o options, work string) error {
	listed, err := command(ctx, s.dir, nil, s.binary, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return fmt.Errorf("tests of %s: %w\n%s", s.path, err, listed)
	}
	names := strings.Fields(listed)
	cases, passed := make([]testCase, len(names)), make([]bool, len(names))
	err = each(ctx, o.parallel, len(names), func(_, i int) (err error) {
		cases[i], passed[i], err = s.alone(ctx, names[i], work)
		return err
	})
	if err != nil {
		return err
	}
	var failed []string
	for i, c := range cases {
		if passed[i] {
			s.cases = append(s.cases, c)
		} else {
			failed = append(failed, c.name)
		}
	}
	slices.SortStableFunc(s.cases, func(a, b testCase) int { return cmp.Compare(a.took, b.took) })
	if len(failed) > 0 {
		if err := s.passUnwoven(ctx, failed, work); err != nil {
			return err
		}
		fmt.Fprintf(o.progress, "%s: left out, as they fail where breaks are woven in: %s\n", s.path, strings.Join(failed, ", "))
	}
	return nil
}

// alone runs one test.
func (s *suite) alone(ctx context.Context, name, work string) (c testCase, passed bool, err error) {
	reached, err := os.MkdirTemp(work, "reached-")
	if err != nil {
		return c, false, err
	}
	defer os.RemoveAll(reached)
	o, err := s.run(ctx, s.overlay, s.binary, pattern([]string{name}), buildTime, reachedVar+"="+reached)
	if err != nil {
		return c, false, err
	}
	notes, err := os.ReadDir(reached)
	c = testCase{name: name, took: o.took}
	for _, note := range notes {
		if n, err := strconv.Atoi(note.Name()); err == nil {
			c.reaches = append(c.reaches, n-1)
		}
	}
	return c, o.passed, err
}

// passUnwoven sees that tests pass in the package as it is: if one fails, every break would seem to be caught.
func (s *suite) passUnwoven(ctx context.Context, names []string, work string) error {
	dir := filepath.Join(work, "whole")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	nothing, err := writeOverlay(dir, map[string]string{})
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "whole.test")
	if err := s.build(ctx, nothing, binary); err != nil {
		return fmt.Errorf("package %s as it is: %w", s.path, err)
	}
	o, err := s.run(ctx, nothing, binary, pattern(names), buildTime)
	if err == nil && !o.passed {
		err = fmt.Errorf("package %s: its tests fail as it is; mend them first\n%s", s.path, o.output)
	}
	return err
}

// try runs the tests that reach a change, the fastest first. They run in groups that take longer and longer, until one fails.
func (s *suite) try(ctx context.Context, i int, least time.Duration) (outcome, error) {
	cases := s.reaching(i)
	for budget := time.Second; len(cases) > 0; budget *= 2 {
		var names []string
		var took time.Duration
		for len(cases) > 0 && (len(names) == 0 || took+cases[0].took <= budget) {
			names = append(names, cases[0].name)
			took += cases[0].took
			cases = cases[1:]
		}
		o, err := s.run(ctx, s.overlay, s.binary, pattern(names), max(least, 5*took), fmt.Sprint(chosenVar, "=", i+1))
		if err != nil || !o.passed {
			return o, err
		}
	}
	return outcome{passed: true}, nil
}

// tryUnwoven builds the tests with a change that is not woven, and runs all of them.
func (s *suite) tryUnwoven(ctx context.Context, overlay, binary string, least time.Duration) (outcome, error) {
	if err := s.build(ctx, overlay, binary); err != nil {
		return outcome{}, err
	}
	var took time.Duration
	for _, c := range s.cases {
		took += c.took
	}
	return s.run(ctx, overlay, binary, "", max(least, 5*took))
}

// each calls f for 0 to n-1 on some goroutines, which have numbers too, until ctx ends. It returns what went wrong.
func each(ctx context.Context, parallel, n int, f func(worker, i int) error) error {
	var workers sync.WaitGroup
	var mu sync.Mutex
	var faults []error
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	for worker := range parallel {
		workers.Go(func() {
			for i := take(); i < n && ctx.Err() == nil; i = take() {
				if err := f(worker, i); err != nil {
					mu.Lock()
					faults = append(faults, err)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(append(faults, ctx.Err())...)
}
