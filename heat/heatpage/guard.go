package heatpage

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// cookie returns the name and the value of the cookie of a browser that has given the token once. Cookies are shared by all ports of a
// host, so that pages with other tokens have other names, and nobody there learns the token.
func (p *Page) cookie() (name, value string) {
	sum := sha256.Sum256([]byte("heatsink page " + p.options.Token))
	return "heatsink-page-" + hex.EncodeToString(sum[:4]), hex.EncodeToString(sum[4:])
}

// refuse answers requests that may not see the page, and reports whether it did. A web page elsewhere can let a browser send
// requests here under a name of its own; so the name is checked also where no token is wanted.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page only answers GET", http.StatusMethodNotAllowed)
	case !p.allowed(r.Host):
		http.Error(w, "open the page by an IP address or as localhost, or add the name to Options.Hosts", http.StatusForbidden)
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Dest") != "document":
		http.Error(w, "another website asks for the page", http.StatusForbidden)
	case p.options.Token == "" && !loopback(r.RemoteAddr):
		http.Error(w, "without Options.Token the page answers to loopback addresses only", http.StatusForbidden)
	case p.options.Token == "" && forwarded(r.Header):
		http.Error(w, "without Options.Token the page answers no requests that a proxy forwards: set a token", http.StatusForbidden)
	case p.options.Token != "" && !p.authorized(w, r):
		http.Error(w, "give the token of the page: ?token=…, or Authorization: Bearer …", http.StatusUnauthorized)
	default:
		return false
	}
	return true
}

// allowed reports whether a host may name this page.
func (p *Page) allowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.ContainsFunc(p.options.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

func loopback(remote string) bool {
	addr, err := netip.ParseAddrPort(remote)
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// forwarded reports whether a proxy has sent a request on: its address is the proxy's, not that of who asks.
func forwarded(h http.Header) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"}, func(name string) bool { return len(h.Values(name)) > 0 })
}

// authorized reports whether a request has the token. A browser that gave it in the address gets a cookie, so that what the page asks
// for has it too.
func (p *Page) authorized(w http.ResponseWriter, r *http.Request) bool {
	name, value := p.cookie()
	if p.is(r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
		return true
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && p.is(bearer) {
		return true
	}
	c, err := r.Cookie(name)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(value)) == 1
}

func (p *Page) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.options.Token)) == 1
}
