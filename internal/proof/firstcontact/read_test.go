package main

import (
	"slices"
	"time"
)

// read reads the newest items of those that are stored, and compares.
func (w *world) read(s store, stored []string) readResult {
	w.Helper()
	before, began := w.watch.Traffic(), time.Now()
	got, err := s.newest(w.Context(), newest)
	if err != nil {
		w.Fatal(err)
	}
	after := w.watch.Traffic()
	r := readResult{
		Stored: len(stored), Items: after.Items - before.Items, Requests: after.Requests - before.Requests,
		Units: after.ReadUnits - before.ReadUnits, Seconds: time.Since(began).Seconds(),
	}
	want := slices.Clone(stored)
	slices.Sort(want)
	slices.Reverse(want)
	want = want[:min(newest, len(want))]
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			r.Wrong++
		}
	}
	return r
}
