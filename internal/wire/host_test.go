package wire

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	h, err := newHosts(false, []string{"dynamodb.test", "Proxy.Example."})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"":                       true, // HTTP/1.0, no browser
		"127.0.0.1":              true,
		"127.0.0.1:8000":         true,
		"192.168.0.7:80":         true,
		"[::1]":                  true,
		"[::1]:8000":             true,
		"[fe80::1%25eth0]:8000":  true,
		"localhost":              true,
		"LocalHost:8000":         true,
		"localhost.:8000":        true,
		"app.localhost:3000":     true,
		"dynamodb.test":          true,
		"dynamodb.test:8000":     true,
		"DynamoDB.Test.:1":       true,
		"proxy.example":          true,
		"evil.example":           false,
		"evil.example:8000":      false,
		"sub.dynamodb.test":      false,
		"dynamodb.test.evil.com": false,
		"localhost.evil.com":     false,
		"notlocalhost":           false,
		"127.0.0.1.evil.com":     false,
		"127.0.0.1.nip.io:8000":  false,
		"evil.com:127.0.0.1":     false,
		"127.0.0.1:x":            false,
		"127.1":                  false,
		"0x7f000001":             false,
		"2130706433":             false,
		"::1":                    false,
		"[::1":                   false,
		"[127.0.0.1]":            false,
		"[localhost]":            false,
		"[::1]evil.com":          false,
		"[::1].evil.com:80":      false,
		".":                      false,
		":8000":                  false,
		"[]":                     false,
	} {
		if got := h.allow(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
	if any := (&hosts{any: true}); !any.allow("evil.example") {
		t.Error("not any host")
	}
}

func TestHostFaults(t *testing.T) {
	for name, want := range map[string]string{
		"dynamodb.test":      "",
		"db_1":               "",
		"localhost":          "",
		"127.0.0.1":          "",
		"":                   "want a host name such as",
		".":                  "want a host name such as",
		"a b":                "want a host name such as",
		"bücher.example":     "want a host name such as",
		"[::1]":              "leave the port out",
		"dynamodb.test:8000": "leave the port out",
		"http://x":           "give the name alone",
		"*":                  "give each host name",
		"*.example":          "give each host name",
	} {
		switch _, err := newHosts(false, []string{name}); {
		case want == "" && err != nil:
			t.Errorf("%q: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--allow-host "+strconv.Quote(name))):
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

// Whatever passes where no name is given is an address or localhost to others, too.
func FuzzHosts(f *testing.F) {
	for _, host := range []string{"127.0.0.1:8000", "[::1]:80", "a.localhost", "localhost.", "evil.example:8000", "[::1%25a]", "127.0.0.1:8000:8000", ":"} {
		f.Add(host)
	}
	h, _ := newHosts(false, nil)
	f.Fuzz(func(t *testing.T, host string) {
		if host == "" || !h.allow(host) {
			return
		}
		name := host
		if n, port, err := net.SplitHostPort(host); err == nil {
			if _, err := strconv.ParseUint("0"+port, 10, 64); err != nil && !strings.Contains(err.Error(), "range") {
				t.Errorf("%q passes with port %q", host, port)
			}
			name = n
		}
		if strings.HasPrefix(host, "[") {
			name, _, _ = strings.Cut(strings.Trim(name, "[]"), "%") // the zone
		}
		lower := "." + strings.TrimSuffix(strings.ToLower(name), ".")
		if net.ParseIP(name) == nil && !strings.HasSuffix(lower, ".localhost") {
			t.Errorf("%q passes", host)
		}
	})
}

// The first lane asks for every request.
func TestHostsAllocateNothing(t *testing.T) {
	h, _ := newHosts(false, []string{"dynamodb.test"})
	for _, host := range []string{"127.0.0.1:8000", "[::1]:8000", "localhost:8000", "dynamodb.test:8000"} {
		if n := testing.AllocsPerRun(100, func() { h.allow(host) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
	}
}

func BenchmarkHosts(b *testing.B) {
	h, _ := newHosts(false, nil)
	for b.Loop() {
		if !h.allow("127.0.0.1:8000") {
			b.Fatal("not allowed")
		}
	}
}
