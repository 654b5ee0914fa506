package wire

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// hosts are the names that a server answers to. IP addresses and localhost are
// always among them: no name server decides where those lead.
type hosts struct {
	any   bool
	named map[string]bool // in lower case, without port and final dot
}

func newHosts(any bool, names []string) (hosts, error) {
	h := hosts{any: any, named: make(map[string]bool)}
	var faults []error
	for _, name := range names {
		if fault := hostFault(name); fault != "" {
			faults = append(faults, fmt.Errorf("--allow-host %q: %s", name, fault))
			continue
		}
		h.named[strings.ToLower(strings.TrimSuffix(name, "."))] = true
	}
	return h, errors.Join(faults...)
}

// hostFault says what is wrong with a name to be allowed, "" if nothing is.
func hostFault(name string) string {
	switch {
	case strings.Contains(name, "*"):
		return "wildcards are not supported: give each host name"
	case strings.Contains(name, "/"):
		return "want a host name, not a URL: give the name alone, such as dynamodb.test"
	case strings.Contains(name, ":"):
		return "leave the port out: every port of the host is allowed"
	case !isHost(strings.TrimSuffix(name, ".")) || strings.ContainsAny(name, "[]"):
		return "want a host name such as dynamodb.test"
	}
	return ""
}

// allow reports whether a request to a Host is answered. No web page can make a
// browser leave it out, so that one without is somebody else's.
func (h *hosts) allow(host string) bool {
	if h.any || host == "" {
		return true
	}
	name, port := cutPort(host)
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return ok && err == nil && addr.Is6()
	}
	if name != "" && name[len(name)-1] <= '9' {
		if addr, err := netip.ParseAddr(name); err == nil && addr.Is4() {
			return true
		}
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || h.named[name]
}

// cutPort splits a Host into its name and its port, which may be empty.
func cutPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i], host[i+1:]
	}
	return host, ""
}
