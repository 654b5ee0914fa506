package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestDescriptorsAreShared(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		dir   bool
		want  descriptors
		warns bool
	}{
		{"unknown", 0, true, descriptors{}, false},
		{"usual", 1024, true, descriptors{1024, 718, 250}, false},
		{"few, with a directory", 256, true, descriptors{256, 126, 74}, true},
		{"few, in memory", 256, false, descriptors{256, 232, 0}, false},
		{"many", 1 << 30, true, descriptors{1 << 30, mostConns, 1000}, false},
		{"the least, with a directory", 138, true, descriptors{138, 8, 74}, true},
		{"the least, in memory", 32, false, descriptors{32, 8, 0}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := shareDescriptors(c.limit, c.dir)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
			var log bytes.Buffer
			got.warn(slog.New(slog.NewTextHandler(&log, nil)))
			if warned := strings.Contains(log.String(), "ulimit -n"); warned != c.warns {
				t.Errorf("logged %q", log.String())
			}
			if most := got.conns + got.store + ownDescriptors; c.limit > 0 && most > c.limit {
				t.Errorf("%d are given away", most)
			}
		})
	}
	for dir, limit := range map[bool]int{true: 137, false: 31} {
		_, err := shareDescriptors(limit, dir)
		if err == nil || !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("%d: got %v, want an error that says what to do", limit, err)
		}
	}
	if _, err := shareDescriptors(100, true); err == nil || !strings.Contains(err.Error(), "may open 100 files, but needs at least 138") {
		t.Errorf("got %v", err)
	}
}
