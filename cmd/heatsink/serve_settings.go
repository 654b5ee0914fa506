package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// settled refuses settings that were given but say nothing, as those of a script
// whose variable is not set: what happens without them is hardly what was meant.
func (s *server) settled(flags *pflag.FlagSet) error {
	for _, f := range []struct{ name, value, needs string }{
		{"addr", s.addr, "a host and a port; leave it out for 127.0.0.1:8000"},
		{"data", s.data, "a directory; leave it out for memory"},
		{"access-key", s.accessKey, "an access key id; leave it out to take that of " + accessKeyEnv + " or, on loopback, any"},
		{"secret-key", s.secretKey, "a secret; leave it out to take that of " + secretKeyEnv + " or, on loopback, any"},
	} {
		if flags.Changed(f.name) && strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("--%s %q: it needs %s", f.name, f.value, f.needs)
		}
	}
	if strings.ContainsFunc(s.region, unfitForRegion) {
		return fmt.Errorf("--region %q has characters that cannot be in an ARN; use one like us-east-1", s.region)
	}
	return nil
}

func unfitForRegion(r rune) bool {
	return r == ':' || r == '/' || r > '~' || unicode.IsSpace(r) || unicode.IsControl(r)
}
