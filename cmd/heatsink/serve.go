package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// server is what heatsink serve runs.
type server struct {
	addr      string
	data      string
	region    string
	account   string
	accessKey string
	secretKey string
	hide      string // secret of the hashes that the page shows instead of keys
	throttle  bool
	guard     guardFlags
	physics   partition.Options
	reserve   reserve
	lag       engine.Lag
	times     serveTimes
}

const (
	accessKeyEnv = "HEATSINK_ACCESS_KEY_ID"
	secretKeyEnv = "HEATSINK_SECRET_ACCESS_KEY"
)

// physicsFlags are the flags that change how partitions throttle, with the options that they set.
var physicsFlags = []struct{ name, option string }{
	{"partition-writes", "Partition.Write"},
	{"partition-reads", "Partition.Read"},
	{"partitions", "OnDemandPartitions"},
	{"split-hold", "SplitHold"},
	{"split-duration", "SplitDuration"},
}

func newServe() *cobra.Command {
	s := &server{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a local DynamoDB server",
		Long: `Run a local DynamoDB server that any AWS SDK, the AWS CLI and boto3 can talk to.

Without --data, tables are kept in memory and are lost when the process ends. With
--data, the server syncs every write to disk before it acknowledges it. When only
--reserve is left free on that disk, the server answers writes with a 503, which SDKs
retry. Writes succeed again once space is free; no restart is needed.

On loopback the server accepts any well-formed credentials. To listen on another
address, set an access key and its secret: by flags, or by ` + accessKeyEnv + `
and ` + secretKeyEnv + `. The server then verifies the signature of every
request. With --physics it has a page that shows the heat. If ` + tokenEnv + `
is set, the page wants that token, as ?token=… in its address; with an access key there is
no page without one.

Clients may address the server by IP address, as localhost, by the host of --addr, or by
a name given with --allow-host. With an access key, they may use any name. A web page can
use the server only if --cors gives the page's origin. Beware of --cors '*' without an
access key: every website that you visit can then read and delete the tables.`,
		Example: `  heatsink serve
  heatsink serve --physics                       hot keys throttle: open http://127.0.0.1:8000 in a browser, or use heatsink top
  heatsink serve --addr 127.0.0.1:9000 --data ./dynamo

  # in another terminal, for a server on the default address
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  aws dynamodb list-tables
  python3 -c 'import boto3; print(boto3.client("dynamodb").list_tables()["TableNames"])'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range physicsFlags {
				if cmd.Flags().Changed(f.name) && !s.throttle {
					return fmt.Errorf("--%s does nothing without --physics", f.name)
				}
			}
			if cmd.Flags().Changed("hash-keys") && !s.throttle {
				return errors.New("--hash-keys does nothing without --physics")
			}
			if err := physicsFaults(&s.physics); err != nil {
				return err
			}
			if err := s.settled(cmd.Flags()); err != nil {
				return err
			}
			if err := s.lagFaults(cmd.Flags()); err != nil {
				return err
			}
			if err := s.times.faults(cmd.Flags()); err != nil {
				return err
			}
			if cmd.Flags().Changed("reserve") && s.data == "" {
				return errors.New("--reserve does nothing without --data")
			}
			return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8000", "address to listen on; port 0 picks a free one")
	flags.StringVar(&s.data, "data", "", "directory for the data (default: in memory)")
	flags.Var(&s.reserve, "reserve", "with --data: disk space that writes leave free, such as 64MB; 0 disables it (default 256MB, or an eighth of a smaller disk)")
	flags.StringVar(&s.region, "region", "us-east-1", "region in ARNs")
	flags.StringVar(&s.account, "account", "000000000000", "account number in ARNs, 12 digits")
	flags.StringVar(&s.accessKey, "access-key", "", "access key id that clients must use (or "+accessKeyEnv+")")
	flags.StringVar(&s.secretKey, "secret-key", "", "secret of the access key; other users of this machine can see flags, so prefer "+secretKeyEnv)
	s.guard.flags(flags)
	flags.DurationVar(&s.lag.Max, "lag", 0, "return data up to that old from eventually consistent reads and global indexes, such as 500ms (default: every read is consistent)")
	flags.DurationVar(&s.lag.Min, "lag-min", 0, "with --lag: least age of that data")
	flags.Uint64Var(&s.lag.Seed, "lag-seed", 0, "with --lag: seed of the random ages")
	s.times.flags(flags)
	flags.BoolVar(&s.throttle, "physics", false, "throttle and split partitions as DynamoDB does; heatsink top and metrics need a server without an access key")
	flags.StringVar(&s.hide, "hash-keys", "", "with --physics: secret with which keys are hashed before the page shows them (default: keys are shown)")
	flags.Int64Var(&s.physics.Partition.Write, "partition-writes", 0, "with --physics: write units per second that one partition serves (default 1000)")
	flags.Int64Var(&s.physics.Partition.Read, "partition-reads", 0, "with --physics: read units per second that one partition serves (default 3000)")
	flags.IntVar(&s.physics.OnDemandPartitions, "partitions", 0, "with --physics: number of partitions of a new on-demand table (default 4)")
	flags.DurationVar(&s.physics.SplitHold, "split-hold", 0, "with --physics: time that a partition must be hot before it splits (default 5m)")
	flags.DurationVar(&s.physics.SplitDuration, "split-duration", 0, "with --physics: duration of a split; negative for none (default 3m)")
	return cmd
}

// lagFaults returns an error for flags of a lag that there is not. What else is
// wrong with them the engine tells.
func (s *server) lagFaults(flags *pflag.FlagSet) error {
	if flags.Changed("lag") {
		return nil
	}
	for _, name := range []string{"lag-min", "lag-seed"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s does nothing without --lag", name)
		}
	}
	return nil
}

// physicsFaults returns an error that names every flag that partitions cannot use.
func physicsFaults(o *partition.Options) error {
	var faults []string
	for _, fault := range o.Faults() {
		for _, f := range physicsFlags {
			if f.option == fault.Option {
				faults = append(faults, fmt.Sprintf("--%s %s", f.name, fault.Text))
			}
		}
	}
	if faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// run serves until ctx ends, then lets the requests under way finish.
func (s *server) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	credentials, err := s.credentials()
	if err != nil {
		return err
	}
	if s.region == "" {
		return errors.New("--region must not be empty")
	}
	if len(s.account) != 12 || strings.Trim(s.account, "0123456789") != "" {
		return fmt.Errorf("--account must be 12 digits: got %q", s.account)
	}
	guard, err := s.guard.guard(s.addr, credentials != nil)
	if err != nil {
		return err
	}
	files, err := shareDescriptors(descriptorLimit(), s.data != "")
	if err != nil {
		return err
	}
	listener, err := s.listen(ctx, credentials != nil)
	if err != nil {
		return err
	}
	defer steadyHeap()()
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	recorder, err := heat.NewRecorder(heat.Options{NoDescribe: true, Top: mostTopKeys, Limits: s.limits()})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	files.warn(logger)
	e, err := engine.OpenContext(ctx, s.options(files, logger, recorder))
	if err != nil && ctx.Err() != nil {
		return listener.Close() // interrupted before it was up, which is no failure
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	operations := wire.NewHandler(e, wire.Options{Credentials: credentials, Guard: guard, Region: s.region, Logger: logger})
	page, err := s.page(e, recorder)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	showing, done := context.WithCancel(ctx)
	var shown sync.WaitGroup
	defer shown.Wait()
	defer done()
	shows := s.shows(credentials)
	if shows {
		shown.Go(func() { page.Run(showing) })
	}
	web := s.web(files, operations, s.handler(e, recorder, page, operations, credentials))
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	fmt.Fprintln(stdout, s.banner(listener.Addr()))
	if shows {
		fmt.Fprintf(stdout, "page: http://%s/\n", reachable(listener.Addr()))
	}

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = web.Shutdown(shutdown)
	if errors.Is(err, context.DeadlineExceeded) {
		err = web.Close() // a client that does not let go
	}
	if done := <-served; !errors.Is(done, http.ErrServerClosed) {
		err = errors.Join(err, done)
	}
	return err
}

// options are the engine's.
func (s *server) options(files descriptors, logger *slog.Logger, recorder *heat.Recorder) engine.Options {
	o := engine.Options{Dir: s.data, Reserve: int64(s.reserve), MaxOpenFiles: files.store, Region: s.region, Account: s.account, Logger: logger}
	s.times.set(&o)
	if s.lag != (engine.Lag{}) {
		o.Lag = &s.lag
	}
	if s.throttle {
		o.Physics = &s.physics
		o.Observe, o.Dropped = observeInto(recorder), recorder.Forget
	}
	return o
}

// web is the server of the port.
func (s *server) web(files descriptors, operations *wire.Handler, rest http.Handler) *wire.Server {
	web := wire.NewServer(operations, rest)
	web.MaxConns = files.conns
	return web
}

// handler answers operations, and with the page. With physics and without credentials
// it also answers for the partitions, CloudWatch's metrics and the hot keys; otherwise
// those paths answer why they are off.
func (s *server) handler(e *engine.Engine, recorder *heat.Recorder, page, operations http.Handler, credentials *wire.Credentials) http.Handler {
	mux := http.NewServeMux()
	why := untold(s.throttle, credentials != nil)
	metrics := wire.NewCloudWatchHandler(e)
	if why != "" {
		metrics = wire.NewNoCloudWatchHandler(why)
	}
	services := wire.Services(operations, metrics)
	mux.Handle("/", services)
	if s.shows(credentials) {
		mux.Handle("/{$}", forBrowsers(page, services))
		mux.Handle("GET /events", page)
		mux.Handle("GET /export.html", page)
	}
	if why != "" {
		nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, why, http.StatusNotFound) })
		mux.Handle("GET "+wire.PartitionsPath, nothing)
		mux.Handle("GET "+heatPath, nothing)
		return mux
	}
	mux.Handle(wire.PartitionsPath, wire.NewPartitionsHandler(e))
	mux.Handle(heatPath, newHeatHandler(e, recorder))
	return mux
}

// untold says why a server reports no partitions, metrics and hot keys; "" if it does.
func untold(physics, credentials bool) string {
	switch {
	case !physics:
		return "metrics, partitions and hot keys need physics: start the server with heatsink serve --physics"
	case credentials:
		return "metrics, partitions and hot keys are off on a server with an access key: " +
			"start heatsink serve --physics without one"
	}
	return ""
}

// credentials returns those that clients must use, nil for any.
func (s *server) credentials() (*wire.Credentials, error) {
	key := cmp.Or(s.accessKey, os.Getenv(accessKeyEnv))
	secret := cmp.Or(s.secretKey, os.Getenv(secretKeyEnv))
	switch {
	case key == "" && secret == "":
		return nil, nil
	case key == "" || secret == "":
		return nil, fmt.Errorf("set both an access key (--access-key or %s) and its secret (--secret-key or %s), or neither", accessKeyEnv, secretKeyEnv)
	}
	c := &wire.Credentials{AccessKeyID: key, SecretAccessKey: secret}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("--access-key or %s: %w", accessKeyEnv, err)
	}
	return c, nil
}

// listen opens the port, on loopback alone unless requests are verified.
func (s *server) listen(ctx context.Context, verified bool) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", s.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w; give a host and a port, such as 127.0.0.1:8000 or [::1]:8000", s.addr, err)
	}
	if !verified && !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("--addr %q: other machines could reach the server, and it has no credentials: "+
			"set %s and %s (or use --access-key and --secret-key), or listen on 127.0.0.1", s.addr, accessKeyEnv, secretKeyEnv)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: choose another port with --addr, or any free port with --addr 127.0.0.1:0", err)
	}
	return listener, err
}

// banner says in one line how to point SDKs, the AWS CLI and boto3 at the server.
func (s *server) banner(addr net.Addr) string {
	where, keys := "in memory", "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
	if s.data != "" {
		where = "in " + s.data
	}
	if credentials, _ := s.credentials(); credentials != nil {
		keys = "AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…"
	}
	addr = reachable(addr)
	if s.throttle {
		where += ", with partitions that throttle"
	}
	return fmt.Sprintf("heatsink: DynamoDB %[1]s. SDKs, AWS CLI, boto3: export AWS_ENDPOINT_URL=http://%[2]s AWS_REGION=%[3]s AWS_DEFAULT_REGION=%[3]s %[4]s",
		where, addr, s.region, keys)
}

// reachable returns where to go for what listens at an address. Every address is a place to listen, not to go to.
func reachable(addr net.Addr) net.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}
	}
	return addr
}
