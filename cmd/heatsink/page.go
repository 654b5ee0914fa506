package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/heat/heatpage"
)

// pageFlags say where a page is served by a command that has no server of its own.
type pageFlags struct {
	addr string
	save string
}

const tokenEnv = "HEATSINK_PAGE_TOKEN"

func (f *pageFlags) flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "web", "", "serve a page with a picture of the heat at this address, such as 127.0.0.1:8080; other than loopback needs a token in "+tokenEnv)
	flags.StringVar(&f.save, "save-page", "", "save the page as this HTML file at the end")
}

// wanted reports whether there is a page at all.
func (f *pageFlags) wanted() bool { return f.addr != "" || f.save != "" }

// pageRun is a page at work.
type pageRun struct {
	page    *heatpage.Page
	save    string
	url     string // "" if it is not served
	running sync.WaitGroup
	cancel  context.CancelFunc
	server  *http.Server
}

// start takes rounds for a page, and serves it if an address is given.
func (f *pageFlags) start(ctx context.Context, o heatpage.Options) (*pageRun, error) {
	if f.save != "" {
		if err := checkOutput(f.save); err != nil {
			return nil, fmt.Errorf("--save-page: %w", err)
		}
	}
	o.Token = os.Getenv(tokenEnv)
	page, err := heatpage.New(o)
	if err != nil {
		return nil, err
	}
	r := &pageRun{page: page, save: f.save}
	if f.addr != "" {
		if err := r.listen(ctx, f.addr, o.Token != ""); err != nil {
			return nil, err
		}
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.running.Go(func() { page.Run(ctx) })
	return r, nil
}

func (r *pageRun) listen(ctx context.Context, text string, token bool) error {
	addr, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		return fmt.Errorf("--web %s: %w; give a host and a port, such as 127.0.0.1:8080", text, err)
	}
	if !token && !addr.IP.IsLoopback() {
		return fmt.Errorf("--web %q: other machines could read the keys: set %s, or listen on 127.0.0.1", text, tokenEnv)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: choose another port with --web, or any free port with --web 127.0.0.1:0", err)
	}
	if err != nil {
		return err
	}
	r.url = "http://" + reachable(listener.Addr()).String() + "/"
	r.server = &http.Server{Handler: r.page, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	r.running.Go(func() { _ = r.server.Serve(listener) }) // until Shutdown
	return nil
}

// end saves the page if that was asked for, and lets all browsers go.
func (r *pageRun) end(ctx context.Context) (err error) {
	r.cancel()
	if r.server != nil {
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if r.server.Shutdown(shutdown) != nil {
			err = r.server.Close()
		}
	}
	r.running.Wait()
	if r.save == "" {
		return err
	}
	if fault := writeOutput(r.save, r.page.Export); fault != nil {
		return errors.Join(err, fmt.Errorf("--save-page: %w", fault))
	}
	return err
}
