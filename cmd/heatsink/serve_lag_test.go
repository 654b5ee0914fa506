package main

import (
	"strings"
	"testing"
)

// Wrong ages, and an account that is none, are refused before anything listens.
func TestServeRefusesLagsAndAccounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--lag-min does nothing without --lag", []string{"--lag-min", "1s"}},
		{"--lag-seed does nothing without --lag", []string{"--lag-seed", "7"}},
		{"Min 2s is longer than Max 1s", []string{"--lag", "1s", "--lag-min", "2s"}},
		{"Max must be positive", []string{"--lag", "-1s"}},
		{`--account must be 12 digits: got "12345678901x"`, []string{"--account", "12345678901x"}},
		{`--account must be 12 digits: got ""`, []string{"--account", ""}},
	} {
		stdout, stderr, code := command(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}
