package wire

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// Guard keeps web pages away from a server that their visitor can reach. A page
// has its visitor's browser send requests. The browser lets it read the answers
// if the page's name leads to the server, and name servers change where a name
// leads (DNS rebinding). So a guard looks at two headers that pages cannot
// choose: Host, the name that the browser looked up, and Origin, where the page
// came from.
//
// A nil Guard lets everything pass.
type Guard struct {
	hosts   hosts
	origins origins
}

// GuardOptions say who may pass. With the zero value that is who asks for an IP
// address or for localhost, from no web page or from one of the same address.
type GuardOptions struct {
	// Hosts are further names that requests may ask for, without a port.
	Hosts []string

	// AnyHost makes every name pass, for a server that verifies signatures: a
	// page without the secret has no use for the answers.
	AnyHost bool

	// Origins are those of pages that may use the server, such as
	// http://localhost:3000, or "*" for all pages on the web.
	Origins []string
}

// NewGuard returns a guard. An error names every host and origin that is not
// one, and the flag of heatsink serve that it was given with.
func NewGuard(o GuardOptions) (*Guard, error) {
	h, hostErr := newHosts(o.AnyHost, o.Hosts)
	p, originErr := newOrigins(o.Origins)
	if err := errors.Join(hostErr, originErr); err != nil {
		return nil, err
	}
	return &Guard{h, p}, nil
}

// Handler returns a handler that refuses what must not pass with status 403,
// answers browsers that ask what a page may send, and leaves the rest to next.
func (g *Guard) Handler(next http.Handler) http.Handler {
	if g == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, ok := g.origins.allow(r)
		if !ok {
			refuse(w, r, originError(origin))
			return
		}
		g.origins.grant(w.Header(), origin)
		if err := g.host(r); err != nil {
			refuse(w, r, err)
			return
		}
		if preflight(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// host returns an error if the request asks for a name that is not the server's.
func (g *Guard) host(r *http.Request) *engine.Error {
	if g == nil {
		return nil
	}
	if host := hostOf(r); !g.hosts.allow(host) {
		return hostError(host)
	}
	return nil
}

func hostError(host string) *engine.Error {
	name, _ := cutPort(host)
	return denied("this server does not answer requests for host %.100q: "+
		"use 127.0.0.1 or localhost, or start heatsink serve with --allow-host %.100s", host, name)
}

func originError(origin string) *engine.Error {
	if origin == "" {
		return denied("a page of another web site must not embed this address (Sec-Fetch-Site): open the address itself")
	}
	flag, err := parseOrigin(origin)
	if err != nil {
		flag = "ORIGIN"
	}
	return denied("web pages of origin %.100q must not use this server: "+
		"if the page is yours, start heatsink serve with --cors %.100s", origin, flag)
}

// forbidden is an error of a guard: it has another status than AWS's own of the
// same type.
type forbidden struct{ err *engine.Error }

func (f forbidden) Error() string { return f.err.Error() }
func (f forbidden) Unwrap() error { return f.err }

func denied(format string, args ...any) *engine.Error {
	return &engine.Error{Type: typeAccessDenied, Message: fmt.Sprintf(format, args...)}
}

// refuse answers with an error in the words of whichever protocol the request is
// in, for an operation those that the first lane would choose.
func refuse(w http.ResponseWriter, r *http.Request, err *engine.Error) {
	protocol, metrics := metricProtocolOf(r)
	switch {
	case metrics:
		refuseCloudWatch(w, protocol, &cloudWatchError{err.Type, err.Message})
	case r.Method == http.MethodPost && isRoot(r) && contentTypeOf(r) != nil:
		x := exchanges.Get().(*exchange)
		status := x.answer.error(forbidden{err})
		send(w, status, contentTypeOf(r), "", x.answer.buf, nil)
		x.release()
	default:
		http.Error(w, err.Message, http.StatusForbidden)
	}
}
