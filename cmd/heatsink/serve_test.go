package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/wholebody"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// served is a heatsink serve that runs inside the test.
type served struct {
	banner string
	url    string
	stop   context.CancelFunc
	ended  chan int // the exit code
	stderr *output
}

// output is what a command prints, to be looked at while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var urlPattern = regexp.MustCompile(`AWS_ENDPOINT_URL=(http://\S+)`)

// serve starts heatsink serve on a free port and waits for its banner.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &served{stop: stop, ended: make(chan int, 1), stderr: &output{}}
	stdout, w := io.Pipe()
	go func() {
		code := run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), w, s.stderr)
		_ = w.Close()
		s.ended <- code
	}()
	t.Cleanup(func() {
		if s.stop == nil {
			return
		}
		if code := s.shutdown(); code != 0 {
			t.Errorf("heatsink serve ended with %d: %s", code, s.stderr)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("no banner: %v; stderr: %s", err, s.stderr)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	s.banner = strings.TrimSuffix(line, "\n")
	found := urlPattern.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("no URL in the banner %q", line)
	}
	s.url = found[1]
	return s
}

// The second line says where the page is, if there is one.
func TestServeTellsItsPage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want bool
	}{
		"physics":                {[]string{"--physics"}, true},
		"no physics":             {nil, false},
		"physics, an access key": {[]string{"--physics", "--access-key", "AKIALOCAL", "--secret-key", "secret"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			read, write := io.Pipe()
			go func() {
				run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...), write, io.Discard)
				_ = write.Close()
			}()
			stdout := bufio.NewReader(read)
			banner, err := stdout.ReadString('\n')
			stop()
			rest, err2 := io.ReadAll(stdout)
			want := ""
			if found := urlPattern.FindStringSubmatch(banner); c.want && found != nil {
				want = "page: " + found[1] + "/\n"
			}
			if err != nil || err2 != nil || string(rest) != want || c.want && want == "" {
				t.Errorf("got %q after %q, want %q; %v, %v", rest, banner, want, err, err2)
			}
		})
	}
}

// shutdown ends the server and returns its exit code.
func (s *served) shutdown() int {
	s.stop()
	s.stop = nil
	return <-s.ended
}

// client is the SDK's, with these credentials and without retries.
func client(url, key, secret string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(url),
		Region:       "us-east-1",
		Retryer:      aws.NopRetryer{},
		HTTPClient:   wholebody.Client{HTTPClient: awshttp.NewBuildableClient()},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
		}),
	})
}

func createTable(ctx context.Context, c *dynamodb.Client, name string) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	return err
}

func tables(ctx context.Context, c *dynamodb.Client) ([]string, error) {
	out, err := c.ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		return nil, err
	}
	return out.TableNames, nil
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, want := range []string{"in memory", "AWS CLI", "boto3", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"} {
		if !strings.Contains(s.banner, want) {
			t.Errorf("no %q in the banner: %s", want, s.banner)
		}
	}
	c := client(s.url, "local", "local")
	if err := createTable(t.Context(), c, "things"); err != nil {
		t.Fatal(err)
	}
	if got, err := tables(t.Context(), client(s.url, "ANYTHING", "else")); err != nil || len(got) != 1 {
		t.Errorf("with other credentials: got %v, %v; want the table", got, err)
	}
	if code := s.shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if text := s.stderr.String(); text != "" {
		t.Errorf("stderr has %q", text)
	}
	if _, err := tables(t.Context(), c); err == nil {
		t.Error("the server answers after its end")
	}
}

// What only a server with physics tells is refused by others in words, also to an SDK.
func TestServeWithoutPhysicsSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if err := createTable(t.Context(), client(s.url, "local", "local"), "things"); err != nil {
		t.Fatal(err)
	}
	const want = "start the server with heatsink serve --physics"
	for _, path := range []string{"/heat", "/partitions"} {
		if status, body := ask(t, http.MethodGet, s.url+path); status != http.StatusNotFound || !strings.Contains(body, want) {
			t.Errorf("GET %s: got %d %s", path, status, body)
		}
	}
	_, stderr, code := command(t, "audit", "things", "--endpoint", s.url, "--cloudwatch")
	if code != 2 || !strings.Contains(stderr, want) || strings.Contains(stderr, "deserialization") {
		t.Errorf("audit --cloudwatch: exit %d, %s", code, stderr)
	}
}

func TestServeKeepsADirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", dir, "--region", "eu-west-1")
	for _, want := range []string{dir, "AWS_REGION=eu-west-1"} {
		if !strings.Contains(s.banner, want) {
			t.Errorf("no %q in the banner: %s", want, s.banner)
		}
	}
	if err := createTable(t.Context(), client(s.url, "local", "local"), "things"); err != nil {
		t.Fatal(err)
	}

	// Nobody else may use the directory meanwhile, and nobody comes to harm.
	stdout, stderr, code := command(t, "serve", "--addr", "127.0.0.1:0", "--data", dir)
	if code != 2 || stdout != "" || !strings.Contains(stderr, dir) || !strings.Contains(stderr, "in use by another process") {
		t.Errorf("a second server on the directory: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, err := tables(t.Context(), client(s.url, "local", "local")); err != nil {
		t.Error(err)
	}

	s.shutdown()
	s = serve(t, "--data", dir)
	if got, err := tables(t.Context(), client(s.url, "local", "local")); err != nil || len(got) != 1 {
		t.Errorf("after a restart: got %v, %v; want the table", got, err)
	}
}

func TestServeRefusesDirectories(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("\\end"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, "HEATSINK"), []byte("heatsink 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{foreign: "thesis.tex", newer: "newer version of heatsink"} {
		stdout, stderr, code := command(t, "serve", "--addr", "127.0.0.1:0", "--data", dir)
		if code != 2 || stdout != "" || !strings.Contains(stderr, dir) || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, stdout %q, stderr %q; want %q named", code, stdout, stderr, want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("the directory was touched: %v, %v", entries, err)
		}
	}
}

// Whoever could be reached by others needs credentials.
func TestServeRefusesOpenDoors(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:8000"} {
		stdout, stderr, code := command(t, "serve", "--addr", addr)
		if code != 2 || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q", addr, code, stdout)
		}
		for _, want := range []string{addr, accessKeyEnv, secretKeyEnv, "--access-key", "127.0.0.1"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: no %q in %q", addr, want, stderr)
			}
		}
	}
}

func TestServeOnIPv6Loopback(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("this machine has no IPv6 loopback")
	} else {
		l.Close()
	}
	s := serve(t, "--addr", "[::1]:0")
	if _, err := tables(t.Context(), client(s.url, "local", "local")); err != nil {
		t.Error(err)
	}
}

func TestServeBadAddresses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"8000":                  "missing port",
		"127.0.0.1":             "missing port",
		"127.0.0.1:http-ish":    "http-ish",
		"127.0.0.1:99999":       "99999",
		"":                      "--addr",
		taken.Addr().String():   "address already in use",
		"no such host.test:800": "no such host",
	} {
		stdout, stderr, code := command(t, "serve", "--addr", addr)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, addr) {
			t.Errorf("--addr %q: exit %d, stdout %q, stderr %q; want %q in it", addr, code, stdout, stderr, want)
		}
	}
}

// A directory is not created for a server that cannot start.
func TestServeBadAddressLeavesNoDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if _, _, code := command(t, "serve", "--addr", "0.0.0.0:0", "--data", dir); code != 2 {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want that it does not exist", dir, err)
	}
}

const (
	testKey    = "AKIAIOSFODNN7EXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

func TestServeVerifiesSignatures(t *testing.T) {
	for name, args := range map[string][]string{
		"flags":       {"--access-key", testKey, "--secret-key", testSecret},
		"environment": {},
		"elsewhere":   {"--addr", "0.0.0.0:0"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "flags" {
				t.Setenv(accessKeyEnv, testKey)
				t.Setenv(secretKeyEnv, testSecret)
			}
			s := serve(t, args...)
			url := s.url
			if !strings.HasPrefix(url, "http://127.0.0.1:") {
				t.Errorf("the banner sends clients to %s", url)
			}
			if err := createTable(t.Context(), client(url, testKey, testSecret), "things"); err != nil {
				t.Errorf("right key, right secret: %v", err)
			}
			for _, c := range []struct{ what, key, secret, want string }{
				{"wrong secret", testKey, "other", "InvalidSignatureException"},
				{"wrong key", "AKIAOTHER", testSecret, "UnrecognizedClientException"},
			} {
				_, err := tables(t.Context(), client(url, c.key, c.secret))
				var answer smithy.APIError
				if !errors.As(err, &answer) || answer.ErrorCode() != c.want {
					t.Errorf("%s: got %v, want %s", c.what, err, c.want)
				}
			}
			if response, err := http.Post(url, "application/x-amz-json-1.0", strings.NewReader("{}")); err != nil {
				t.Error(err)
			} else {
				response.Body.Close()
				if response.StatusCode != http.StatusBadRequest {
					t.Errorf("no signature: got %s, want 400", response.Status)
				}
			}
			s.shutdown()
			for _, secret := range []string{testSecret, testKey} {
				if strings.Contains(s.banner+s.stderr.String(), secret) {
					t.Errorf("%q is in the output: %s %s", secret, s.banner, s.stderr)
				}
			}
		})
	}
}

// Half a credential is a mistake, not a door left open; and no mistake makes the
// secret show.
func TestServeMistakesShowNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--secret-key", testSecret}, "both an access key"},
		{[]string{"--access-key", testKey}, "both an access key"},
		{[]string{"--access-key", testKey, "--secret-key", testSecret, "--addr", "nowhere"}, "missing port"},
		{[]string{"--access-key", testKey, "--secret-key", testSecret, "--data", "/dev/null"}, "/dev/null"},
		{[]string{"--secret-key", testSecret, "--wat"}, "--wat"},
		{[]string{"--secret-key", testSecret, "--help"}, ""},
	} {
		args := append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)
		stdout, stderr, code := command(t, args...)
		if c.want != "" && (code != 2 || !strings.Contains(stderr, c.want)) {
			t.Errorf("%v: exit %d, stderr %q; want %q", args, code, stderr, c.want)
		}
		if strings.Contains(stdout+stderr, testSecret) {
			t.Errorf("%v: the secret shows: %s %s", args, stdout, stderr)
		}
	}
}

// A setting that says nothing, or that nobody could use, is refused at the start.
func TestServeRefusesSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--data", ""}, `--data "": want a directory; leave the flag out to keep data in memory`},
		{[]string{"--data", " \t"}, `--data " \t": want a directory`},
		{[]string{"--access-key", "", "--secret-key", ""}, `--access-key "": want an access key id; leave the flag out`},
		{[]string{"--access-key", testKey, "--secret-key", ""}, `--secret-key "": want a secret; leave the flag out`},
		{[]string{"--access-key", "a/b", "--secret-key", testSecret}, "character 2 of 3 is '/'"},
		{[]string{"--access-key", "local\n", "--secret-key", testSecret}, `character 6 of 6 is '\n'`},
		{[]string{"--access-key", testSecret, "--secret-key", testKey}, "--access-key or " + accessKeyEnv + ": access key id: character 14 of 40 is '/'"},
		{[]string{"--physics", "--hash-keys", ""}, `--hash-keys "": want a secret; leave the flag out to show keys`},
		{[]string{"--hash-keys", "secret"}, "--hash-keys does nothing without --physics"},
		{[]string{"--region", "a:b"}, `--region "a:b" has characters`},
		{[]string{"--region", " "}, `--region " " has characters`},
		{[]string{"--region", ""}, `--region must not be empty`},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second) // of a server that starts
		var stdout, stderr bytes.Buffer
		code := run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...), &stdout, &stderr)
		stop()
		if code != 2 || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), testSecret) {
			t.Errorf("%q: exit %d, %s%s; want %s", c.args, code, &stdout, &stderr, c.want)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("left behind: %v, %v", made, err)
	}
}

// slowRequest is a CreateTable of which the server has read the beginning.
type slowRequest struct {
	conn    net.Conn
	answers *bufio.Reader
	rest    string
}

func beginRequest(t *testing.T, url string) *slowRequest {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	body := `{"TableName":"late","BillingMode":"PAY_PER_REQUEST",` +
		`"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.CreateTable\r\n"+
		"X-Amz-Date: 20260101T000000Z\r\n"+
		"Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=%064d\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", address, 0, len(body))
	r := &slowRequest{conn, bufio.NewReader(conn), body[10:]}
	// The server asks for the body when the handler reads it: it is under way.
	if line, err := r.answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v; want to be told to go on", line, err)
	}
	if _, err := r.answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, body[:10])
	return r
}

// finish sends the rest and returns the answer.
func (r *slowRequest) finish(t *testing.T) (status int, text string) {
	t.Helper()
	fmt.Fprint(r.conn, r.rest)
	response, err := http.ReadResponse(r.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// waitUntilDeaf waits until the server takes no more connections.
func waitUntilDeaf(t *testing.T, url string) {
	t.Helper()
	for {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
		time.Sleep(time.Millisecond)
	}
}

// A request that is being sent when the server is told to end gets its answer.
func TestServeFinishesRequests(t *testing.T) {
	t.Parallel()
	s := serve(t)
	request := beginRequest(t, s.url)
	s.stop()
	waitUntilDeaf(t, s.url)
	select {
	case code := <-s.ended:
		t.Fatalf("ended with %d before the request did", code)
	case <-time.After(50 * time.Millisecond):
	}
	if status, text := request.finish(t); status != http.StatusOK || !strings.Contains(text, `"TableName":"late"`) {
		t.Errorf("got %d, %s; want the table", status, text)
	}
	if code := s.shutdown(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.stderr)
	}
}

// Who cannot wait for the requests under way interrupts again.
func TestServeSecondInterruptKills(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir())
	url := p.waitForURL(t)
	beginRequest(t, url)
	interrupt := func() {
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	}
	interrupt()
	waitUntilDeaf(t, url)
	ended := make(chan error)
	go func() { ended <- p.wait(t) }()
	for {
		interrupt()
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != -1 {
				t.Errorf("ended with %v, want by the signal", err)
			}
			return
		case <-time.After(10 * time.Millisecond): // it has not got around to it
		}
	}
}

// What is no request of any client is answered, and the server goes on.
func TestServeSurvivesBadRequests(t *testing.T) {
	t.Parallel()
	s := serve(t)
	post := func(body string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
		request.Header.Set("X-Amz-Date", "20260101T000000Z")
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "+
			"SignedHeaders=host;x-amz-date, Signature="+strings.Repeat("0", 64))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return -1 // the connection was closed on a body that is too large
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	for name, body := range map[string]string{
		"empty":      "",
		"not JSON":   "{",
		"deep":       strings.Repeat(`{"Item":`, 100_000),
		"wrong type": `{"TableName":7}`,
	} {
		if got := post(body); got != http.StatusBadRequest {
			t.Errorf("%s: got status %d, want 400", name, got)
		}
	}
	if got := post(strings.Repeat(" ", 18<<20)); got != http.StatusRequestEntityTooLarge && got != -1 {
		t.Errorf("18 MB: got status %d, want 413", got)
	}
	if _, err := tables(t.Context(), client(s.url, "local", "local")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if text := s.stderr.String(); text != "" {
		t.Errorf("stderr has %q", text)
	}
}

// What the flags and the limit of open files say reaches the engine and the port.
func TestServeSettingsArrive(t *testing.T) {
	files := descriptors{limit: 1000, conns: 321, store: 123}
	s := &server{data: "somewhere", reserve: 77 << 20, region: "eu-central-1"}
	logger := slog.New(slog.DiscardHandler)
	o := s.options(files, logger, nil)
	if o.Dir != "somewhere" || o.Reserve != 77<<20 || o.MaxOpenFiles != 123 || o.Region != "eu-central-1" || o.Logger != logger || o.Physics != nil {
		t.Errorf("got %+v", o)
	}
	if web := s.web(files, wire.NewHandler(nil, wire.Options{}), nil); web.MaxConns != 321 {
		t.Errorf("got %d connections at a time, want 321", web.MaxConns)
	}
}

// A server that is told to end before it opened its directory does not open it.
func TestServeEndsBeforeItIsUp(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()}, &stdout, &stderr)
	if code != 0 || stdout.String() != "" || stderr.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q; want nothing", code, stdout.String(), stderr.String())
	}
}
