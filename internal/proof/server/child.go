package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// childMode is the first argument of a proof that is a server: one as heatsink serve runs, on a disk that fails.
const childMode = "serve-on-failing-disk"

// failures are the ways in which a child's disk fails.
var failures = map[string]func(errorfs.Op) error{
	"none": func(errorfs.Op) error { return nil },
	// No table file can be made, so that everything stays in the log.
	"flushes": func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && isTable(op) {
			return errInjected
		}
		return nil
	},
	// What the server is to live through: table files fail now and then, and syncs of the log are slow at times.
	"gentle": func(op errorfs.Op) error {
		switch {
		case isTable(op) && changes(op) && rand.IntN(10) == 0:
			return noted("table file", op)
		case op.Kind == errorfs.OpFileSyncData && rand.IntN(500) == 0:
			time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
		}
		return nil
	},
	// Anything may fail, and most of it ends the process.
	"harsh": func(op errorfs.Op) error {
		switch {
		case isTable(op) && changes(op) && rand.IntN(10) == 0:
			return noted("table file", op)
		case strings.HasSuffix(op.Path, ".log") && changes(op) && rand.IntN(3000) == 0:
			return noted("log", op)
		case strings.Contains(filepath.Base(op.Path), "MANIFEST") && changes(op) && rand.IntN(20) == 0:
			return noted("manifest", op)
		case op.Kind == errorfs.OpFileSyncData && rand.IntN(500) == 0:
			time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
		}
		return nil
	},
}

var errInjected = errors.New("a failure of the proof's making")

func isTable(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".sst") }

// changes reports whether an operation writes, syncs or creates.
func changes(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }

// noted tells the proof of a failure.
func noted(what string, op errorfs.Op) error {
	fmt.Fprintf(os.Stderr, "%s%s\n", noteMark, what)
	return fmt.Errorf("%w, in %s", errInjected, filepath.Base(op.Path))
}

// serveChild starts a child on a directory and waits until it is up.
func (p *proof) serveChild(ctx context.Context, dir, failure string) (*process, error) {
	s, err := p.launchChild(dir, failure)
	if err != nil {
		return nil, err
	}
	return s, s.up(ctx, time.Minute)
}

func (p *proof) launchChild(dir, failure string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return p.launch(launch{binary: self, args: []string{childMode, dir, failure}})
}

// child is the process of a server, and returns its exit code.
func child(args []string) int {
	if err := runChild(args); err != nil {
		fmt.Fprintln(os.Stderr, "heatsink:", err)
		return 1
	}
	return 0
}

func runChild(args []string) (err error) {
	if len(args) != 2 || failures[args[1]] == nil {
		return fmt.Errorf("%s needs a directory and a way to fail, got %q", childMode, args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	e, err := engine.Open(engine.Options{
		Dir: args[0], Logger: logger, FS: errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(failures[args[1]])),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	handler := wire.NewHandler(e, wire.Options{
		Credentials: &wire.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, Logger: logger,
	})
	web := wire.NewServer(handler, handler)
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	fmt.Printf("http://%s\n", listener.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err = web.Shutdown(shutdown); errors.Is(err, context.DeadlineExceeded) {
		err = web.Close()
	}
	if done := <-served; !errors.Is(done, http.ErrServerClosed) {
		err = errors.Join(err, done)
	}
	return err
}
