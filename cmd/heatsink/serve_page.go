package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// shows reports whether there is a page. Browsers sign no requests: where others could reach it, or clients must sign theirs, the page
// is for those who have its token.
func (s *server) shows(credentials *wire.Credentials) bool {
	return s.throttle && (credentials == nil || os.Getenv(tokenEnv) != "")
}

// page returns the page of an engine with physics. It may be opened by the names that clients may use.
func (s *server) page(e *engine.Engine, recorder *heat.Recorder) (*heatpage.Page, error) {
	hosts := listed(s.guard.hosts)
	if host, _, err := net.SplitHostPort(s.addr); err == nil {
		hosts = append(hosts, host)
	}
	o := heatpage.Options{Source: engineRounds(e, recorder), Rows: mostTopKeys, Hosts: hosts, Ledger: engineLedger(e)}
	if s.throttle {
		o.Token = os.Getenv(tokenEnv)
	}
	if s.hide != "" {
		o.Redact = heat.Hashed([]byte(s.hide))
	}
	return heatpage.New(o)
}

// engineRounds returns the rounds of an engine: what it told a recorder, its partitions, and where keys are.
func engineRounds(e *engine.Engine, recorder *heat.Recorder) func(context.Context) (heatpage.Round, error) {
	return func(ctx context.Context) (heatpage.Round, error) {
		r := heatpage.Round{Report: recorder.Report()}
		r.Source = heat.Engine
		for _, table := range e.TableNames() {
			list, err := e.Heat(ctx, table, lookBack)
			if answer := new(engine.Error); errors.As(err, &answer) && answer.Type == engine.TypeResourceNotFound {
				continue // deleted since it was listed
			}
			if err != nil {
				return r, err
			}
			r.Partitions = append(r.Partitions, list...)
		}
		fillCapacity(ctx, e, &r.Report)
		r.Locate(placesOf(ctx, e, &r.Report))
		return r, nil
	}
}

// lookBack is how far back a round looks, so that a late one misses no second.
const lookBack = 10 * time.Second

// forBrowsers answers the page to browsers, and everything else as before.
func forBrowsers(page, operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		operations.ServeHTTP(w, r)
	})
}
