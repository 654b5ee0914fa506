package main

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/internal/wire"
)

// guardFlags say which names and web pages may use a server.
type guardFlags struct{ hosts, origins []string }

func (g *guardFlags) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&g.hosts, "allow-host", nil, "another host `NAME` that clients may use for the server; may be repeated, or a list with commas")
	f.StringArrayVar(&g.origins, "cors", nil, "`ORIGIN` of web pages that may use the server, such as http://localhost:3000, or * for every website; "+
		"may be repeated, or a list with commas")
}

// guard returns what keeps other web pages away from a server at an address.
func (g *guardFlags) guard(addr string, credentials bool) (*wire.Guard, error) {
	o := wire.GuardOptions{Hosts: listed(g.hosts), Origins: listed(g.origins), AnyHost: credentials && len(g.hosts) == 0}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		_, notAddress := netip.ParseAddr(host)
		if _, notName := wire.NewGuard(wire.GuardOptions{Hosts: []string{host}}); notAddress != nil && notName == nil {
			o.Hosts = append(o.Hosts, host) // what is neither can not be listened on, which says more
		}
	}
	return wire.NewGuard(o)
}

// listed returns the members of lists with commas. An empty one stays, to be refused.
func listed(values []string) []string {
	var all []string
	for _, value := range values {
		all = slices.AppendSeq(all, strings.SplitSeq(value, ","))
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
