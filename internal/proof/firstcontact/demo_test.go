package main

import (
	"slices"
	"testing"
)

// A newcomer has the machine's ways to the network, and none of its caches and settings.
func TestEnvironment(t *testing.T) {
	n := newcomer{home: "/fresh"}
	got := n.environment([]string{
		"PATH=/bin", "HOME=/root", "GOPROXY=http://proxy", "GOFLAGS=-mod=mod", "GOCACHE=/root/.cache", "GIT_DIR=/repo", "AWS_REGION=x", "HTTPS_PROXY=http://way",
	})
	want := []string{
		"PATH=/bin", "GOPROXY=http://proxy", "HTTPS_PROXY=http://way",
		"HOME=/fresh", "GOMODCACHE=/fresh/mod", "GOCACHE=/fresh/build", "GOFLAGS=-modcacherw",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
