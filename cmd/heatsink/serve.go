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
	"syscall"
	"time"

	"github.com/spf13/cobra"

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
	accessKey string
	secretKey string
	throttle  bool
	guard     guardFlags
	physics   partition.Options
	reserve   reserve
}

const (
	accessKeyEnv = "HEATSINK_ACCESS_KEY_ID"
	secretKeyEnv = "HEATSINK_SECRET_ACCESS_KEY"
)

// physicsFlags are those that say how partitions throttle.
var physicsFlags = []string{"partition-writes", "partition-reads", "partitions", "split-hold", "split-duration"}

func newServe() *cobra.Command {
	s := &server{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a local DynamoDB server",
		Long: `Run a local DynamoDB server that any AWS SDK, the AWS CLI and boto3 can talk to.

Tables live in memory and are gone with the process, or in a directory (--data),
where every acknowledged write is on disk. When the disk is full but for --reserve,
writes get a 503, which SDKs retry, and go on by themselves once there is space.

On loopback any well-formed credentials do. To listen elsewhere, configure an
access key and secret (flags, or ` + accessKeyEnv + ` and
` + secretKeyEnv + ` in the environment): then every request's
signature is verified.

Clients reach it by an IP address, localhost, the host of --addr, or a name that
--allow-host gives; with an access key by any name. A web page can use it only if --cors
gives the page's origin. Beware of --cors '*' without an access key: every website that
you visit can then read and delete the tables.`,
		Example: `  heatsink serve
  heatsink serve --physics                       hot keys throttle; heatsink top --endpoint http://127.0.0.1:8000 TABLE shows which
  heatsink serve --addr 127.0.0.1:9000 --data ./dynamo

  # in another terminal, for the first of these
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  aws dynamodb list-tables
  python3 -c 'import boto3; print(boto3.client("dynamodb").list_tables()["TableNames"])'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range physicsFlags {
				if cmd.Flags().Changed(name) && !s.throttle {
					return fmt.Errorf("--%s does nothing without --physics", name)
				}
			}
			if err := s.settled(cmd.Flags()); err != nil {
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
	flags.StringVar(&s.data, "data", "", "directory that keeps the data (default: in memory)")
	flags.Var(&s.reserve, "reserve", "with --data: space that writes leave free on its disk, as 64MB; 0: none (default 256MB, or an eighth of a smaller disk)")
	flags.StringVar(&s.region, "region", "us-east-1", "region named in ARNs")
	flags.StringVar(&s.accessKey, "access-key", "", "access key id that clients must use (or "+accessKeyEnv+")")
	flags.StringVar(&s.secretKey, "secret-key", "", "its secret; other users of this machine can see flags, so prefer "+secretKeyEnv)
	s.guard.flags(flags)
	flags.BoolVar(&s.throttle, "physics", false, "make partitions throttle, split and push back as DynamoDB's do; heatsink top and metrics work only without an access key")
	flags.Int64Var(&s.physics.Partition.Write, "partition-writes", 0, "with --physics: write units a second of one partition (default 1000)")
	flags.Int64Var(&s.physics.Partition.Read, "partition-reads", 0, "with --physics: read units a second of one partition (default 3000)")
	flags.IntVar(&s.physics.OnDemandPartitions, "partitions", 0, "with --physics: partitions of a new on-demand table (default 4)")
	flags.DurationVar(&s.physics.SplitHold, "split-hold", 0, "with --physics: how long a partition is hot before it is split (default 5m)")
	flags.DurationVar(&s.physics.SplitDuration, "split-duration", 0, "with --physics: how long a split takes (default 3m)")
	return cmd
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
	recorder, err := heat.NewRecorder(heat.Options{NoDescribe: true, Top: mostTopKeys})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	files.warn(logger)
	e, err := engine.OpenContext(ctx, s.options(files, logger, recorder))
	if err != nil && ctx.Err() != nil {
		return listener.Close() // it was told to end before it was up, and did
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	operations := wire.NewHandler(e, wire.Options{Credentials: credentials, Guard: guard, Region: s.region, Logger: logger})
	web := s.web(files, operations, s.handler(e, recorder, operations, credentials))
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	fmt.Fprintln(stdout, s.banner(listener.Addr()))

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
	o := engine.Options{Dir: s.data, Reserve: int64(s.reserve), MaxOpenFiles: files.store, Region: s.region, Logger: logger}
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

// handler answers operations and, with physics and for whoever may ask without
// credentials, what the partitions do, here and in CloudWatch's words, and which
// keys are hot. Others are told why there is nothing of it.
func (s *server) handler(e *engine.Engine, recorder *heat.Recorder, operations http.Handler, credentials *wire.Credentials) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", operations)
	if why := untold(s.throttle, credentials != nil); why != "" {
		nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, why, http.StatusNotFound) })
		mux.Handle(wire.CloudWatchPath, wire.NewNoCloudWatchHandler(why))
		mux.Handle("GET "+wire.PartitionsPath, nothing)
		mux.Handle("GET "+heatPath, nothing)
		return mux
	}
	mux.Handle(wire.PartitionsPath, wire.NewPartitionsHandler(e))
	mux.Handle(wire.CloudWatchPath, wire.NewCloudWatchHandler(e))
	mux.Handle(heatPath, newHeatHandler(recorder))
	return mux
}

// untold says why a server does not tell what its partitions do, "" if it does.
func untold(physics, credentials bool) string {
	switch {
	case !physics:
		return "there are no metrics, partitions and hot keys without physics: heatsink serve --physics has them"
	case credentials:
		return "metrics, partitions and hot keys are only for whoever may ask without credentials: " +
			"heatsink serve --physics without an access key has them"
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
		return nil, fmt.Errorf("credentials need both an access key (--access-key or %s) and a secret (--secret-key or %s)", accessKeyEnv, secretKeyEnv)
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
		return nil, fmt.Errorf("refusing --addr %q, where others could reach the server, without credentials: "+
			"set %s and %s (or use --access-key and --secret-key), or listen on 127.0.0.1", s.addr, accessKeyEnv, secretKeyEnv)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: choose another port with --addr, or 127.0.0.1:0 for a free one", err)
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
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port} // every address is a place to listen, not to go to
	}
	if s.throttle {
		where += ", with partitions that throttle"
	}
	return fmt.Sprintf("heatsink: DynamoDB %[1]s. SDKs, AWS CLI, boto3: export AWS_ENDPOINT_URL=http://%[2]s AWS_REGION=%[3]s AWS_DEFAULT_REGION=%[3]s %[4]s",
		where, addr, s.region, keys)
}
