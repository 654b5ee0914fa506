// Shop is a whole service on heatsink: orders by status, likes, views by day, a limit for each client and a board of the best
// shoppers, as a JSON API. It runs on an engine inside this process whose partitions throttle, or on AWS. README.md says what
// to start and what to look at.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// config is what the command line and the environment say.
type config struct {
	addr  string
	data  string
	aws   bool
	naive bool
	limit int

	tokenKey  string // signs page tokens
	pageToken string // for those who see the page of heat from elsewhere
}

func parse(args []string, out io.Writer) (config, error) {
	c := config{tokenKey: os.Getenv("SHOP_TOKEN_KEY"), pageToken: os.Getenv("SHOP_PAGE_TOKEN")}
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	flags.StringVar(&c.data, "data", "", "`directory` of the engine's data (default: in memory)")
	flags.BoolVar(&c.aws, "aws", false, "use DynamoDB on AWS, with the default configuration; this costs money")
	flags.BoolVar(&c.naive, "naive", false, "spread nothing: one key for each status, each day and each counter")
	flags.IntVar(&c.limit, "limit", 600_000, "`requests` about orders that a client may send in a minute")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("%q is no flag: see -help", flags.Arg(0))
	case c.aws && c.data != "":
		return c, errors.New("-aws keeps its data on AWS: leave -data out")
	case c.limit < 1 || c.limit > 1_000_000_000:
		return c, fmt.Errorf("-limit %d: want 1 to 1000000000", c.limit)
	case c.tokenKey != "" && len(c.tokenKey) < 16:
		return c, errors.New("SHOP_TOKEN_KEY has fewer than 16 characters: give a longer one")
	}
	return c, nil
}

// run serves the shop until ctx ends. Everything that it starts has ended when it returns.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	config, err := parse(args, out)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(out, nil))
	db, err := openDatabase(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	shop, err := openShop(ctx, db, config, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.close()) }()
	watch, err := newWatch(db, config)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", config.addr)
	if err != nil {
		return err
	}
	log.Info("open", "shop", "http://"+listener.Addr().String(), "heat", "http://"+listener.Addr().String()+"/heat/", "naive", config.naive)
	return serve(ctx, listener, routes(shop, watch), watch)
}

// grace is how long requests that are under way may take when the shop closes.
const grace = 10 * time.Second

// serve answers requests until ctx ends, and then lets those that are under way finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, watch *watch) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
	}
	stopWatch := watch.start()
	defer stopWatch()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopWatch() // browsers that follow the page would hold Shutdown up
	last, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := server.Shutdown(last)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were still under way after %v: %w", grace, err), server.Close())
	}
	<-failed // Serve has returned
	return err
}
