package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink/local"
)

// serverMode is the first argument of a proof that is a server: a process of its own, as DynamoDB is one.
const serverMode = "server"

// serving is an engine on a port of this machine.
type serving struct {
	url  string
	db   *local.DB
	web  *http.Server
	done chan error
}

// serve starts an engine. It answers each request after a time, as a service on a network does.
func serve(ctx context.Context, after time.Duration) (*serving, error) {
	db, err := local.New(local.Options{})
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &serving{url: "http://" + listener.Addr().String(), db: db, web: &http.Server{Handler: slowly(db.Handler(), after), ReadHeaderTimeout: time.Minute}, done: make(chan error, 1)}
	go func() { s.done <- s.web.Serve(listener) }()
	if err := createTable(ctx, clientOf(s.url)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// slowly waits before each answer.
func slowly(h http.Handler, wait time.Duration) http.Handler {
	if wait == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sleep(r.Context(), wait) == nil {
			h.ServeHTTP(w, r)
		}
	})
}

// close ends it. Requests that are under way may be cut off.
func (s *serving) close() error {
	err := s.web.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, s.db.Close())
}

// runServer is the process of a server, with the time that its answers take. It says where it is, and serves until it is told to
// end.
func runServer(text string) error {
	after, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := serve(ctx, after)
	if err != nil {
		return err
	}
	fmt.Println(s.url)
	<-ctx.Done()
	return s.close()
}
