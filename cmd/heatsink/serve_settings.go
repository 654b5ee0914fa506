package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// settled refuses settings that were given but are empty, such as those of a script
// whose variable is not set: the default is hardly what its author meant.
func (s *server) settled(flags *pflag.FlagSet) error {
	for _, f := range []struct{ name, value, needs string }{
		{"addr", s.addr, "a host and a port; leave the flag out for 127.0.0.1:8000"},
		{"data", s.data, "a directory; leave the flag out to keep data in memory"},
		{"access-key", s.accessKey, "an access key id; leave the flag out to use " + accessKeyEnv + " or, on loopback, to accept any"},
		{"hash-keys", s.hide, "a secret; leave the flag out to show keys"},
		{"secret-key", s.secretKey, "a secret; leave the flag out to use " + secretKeyEnv + " or, on loopback, to accept any"},
	} {
		if flags.Changed(f.name) && strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("--%s %q: want %s", f.name, f.value, f.needs)
		}
	}
	if strings.ContainsFunc(s.region, unfitForRegion) {
		return fmt.Errorf("--region %q has characters that an ARN cannot contain; give a region such as us-east-1", s.region)
	}
	return nil
}

func unfitForRegion(r rune) bool {
	return r == ':' || r == '/' || r > '~' || unicode.IsSpace(r) || unicode.IsControl(r)
}
