package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// origins are the web pages that may use a server, beside those that came from
// its own address.
type origins struct {
	any   bool
	named map[string]bool // as browsers spell them
}

func newOrigins(list []string) (origins, error) {
	o := origins{named: make(map[string]bool)}
	var faults []error
	for _, text := range list {
		if text == "*" {
			o.any = true
			continue
		}
		origin, err := parseOrigin(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("--cors %q: %w", text, err))
			continue
		}
		o.named[origin] = true
	}
	return o, errors.Join(faults...)
}

// parseOrigin returns an origin as browsers spell it: in lower case, without a
// port that is the scheme's own.
func parseOrigin(text string) (string, error) {
	if strings.EqualFold(text, "null") {
		return "", errors.New("every website can send the origin null: give the page's own origin, or * for all websites")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "" || !isHost(u.Host):
		return "", errors.New("want an origin, which is a scheme, a host and an optional port, such as http://localhost:3000")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", fmt.Errorf("want an origin, which is a scheme, a host and an optional port: give %s://%s", u.Scheme, u.Host)
	}
	host, port := strings.ToLower(u.Host), u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" || strings.HasSuffix(host, ":") {
		host, _ = cutPort(host)
	}
	return u.Scheme + "://" + host, nil
}

// allow reports whether a request may come from the page that it comes from, and
// which origin that is. A request that tells none is not from a page, or is one
// that browsers send without: an image's or a script's, or a visit's.
func (o *origins) allow(r *http.Request) (origin string, ok bool) {
	values := r.Header["Origin"]
	switch {
	case len(values) == 0:
		return "", o.any || !embedded(r)
	case len(values) > 1:
		return strings.Join(values, ", "), false
	}
	origin = values[0]
	return origin, o.any || o.named[origin] || own(origin, hostOf(r))
}

// own reports whether a page came from the host that its request goes to.
func own(origin, host string) bool {
	scheme, rest, ok := strings.Cut(origin, "://")
	return ok && (scheme == "http" || scheme == "https") && rest != "" && strings.EqualFold(rest, host)
}

// embedded reports whether a page of another origin has the request made as a
// part of itself. Whoever follows a link there only looks.
func embedded(r *http.Request) bool {
	switch site := headerOf(r, "Sec-Fetch-Site"); {
	case site == "" || site == "none" || site == "same-origin":
		return false
	case r.Method == http.MethodGet && headerOf(r, "Sec-Fetch-Mode") == "navigate" && headerOf(r, "Sec-Fetch-Dest") == "document":
		return false
	}
	return true
}
