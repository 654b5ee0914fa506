package main

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
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

// A newcomer sees a partition that throttles, and later the same load without.
func TestSights(t *testing.T) {
	const (
		head = "           offered  accepted   refused    throttled\n"
		cold = "     1 s       407       408         0            0   1 shard\n"
		hot  = "     1 s     8,003     1,199     6,780        1,138  not counted\n"
		some = "     5 s     7,992     5,162     2,840          438  32 shards\n"
		cool = "     6 s     8,003     8,004         0            1  32 shards\n"
	)
	for name, c := range map[string]struct {
		lines     []string // one a second, the first after a second
		hot, cool time.Duration
	}{
		"both":       {[]string{head, hot, some, cool}, 2 * time.Second, 4 * time.Second},
		"never cool": {[]string{head, hot, some, cold}, 2 * time.Second, 0},
		"never hot":  {[]string{cool, some, cool}, 0, 0},
		"in pieces":  {[]string{hot[:20], hot[20:], cool[:9], cool[9:] + head}, 2 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := &sights{began: time.Now()}
				for _, line := range c.lines {
					time.Sleep(time.Second)
					if _, err := io.WriteString(s, line); err != nil {
						t.Fatal(err)
					}
				}
				if s.hot != c.hot || s.cool != c.cool {
					t.Errorf("got %v and %v, want %v and %v", s.hot, s.cool, c.hot, c.cool)
				}
			})
		})
	}
}
