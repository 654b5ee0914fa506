package counter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// The environment of a child: where the table is, and how long folded slots stay.
const (
	childURL       = "HEATSINK_COUNTER_CHILD"
	childRetention = "HEATSINK_COUNTER_RETENTION"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		os.Exit(child(url))
	}
	os.Exit(m.Run())
}

// processKeys are the counters that children add to.
var processKeys = [...]string{"VIEWS", "LIKES"}

func childOptions(retention time.Duration) Options {
	return Options{
		Table: "counters", Shards: 3, Interval: minInterval,
		Idle: 500 * time.Millisecond, Dead: 300 * time.Millisecond, FoldEvery: 200 * time.Millisecond, Retention: retention,
		Retry: heatsink.Retry{Timeout: 200 * time.Millisecond, Max: 100 * time.Millisecond},
	}
}

func clientOf(url string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}, options...)
}

// child is a process that counts, and tells its parent of every Add: that it begins, and what becomes of it. It stops
// when it is told to on its standard input, says so, and closes its counter at the input's end.
func child(url string) int {
	retention, err := time.ParseDuration(os.Getenv(childRetention))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c, err := newCounter(clientOf(url), childOptions(retention).withDefaults())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() { childAdds(c, i%len(processKeys), stop) })
	}
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	close(stop)
	all.Wait()
	tell("stopped")
	_, _ = in.ReadString('\n')
	if err := c.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "close:", err)
		return 1
	}
	return 0
}

func childAdds(c *Counter, key int, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(rand.N(20 * time.Millisecond)):
		}
		tell(fmt.Sprint("begun ", key))
		switch err := c.Add(context.Background(), processKeys[key], 1); {
		case err == nil:
			tell(fmt.Sprint("counted ", key))
		case errors.Is(err, ErrUncertain):
			tell(fmt.Sprint("uncertain ", key))
		default:
			tell(fmt.Sprint("refused ", key))
		}
	}
}

// tell writes a line at once, so that a killed process has said everything or begun to.
func tell(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

// process is a child, seen by its parent.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  bytes.Buffer
	stopped chan struct{} // closed when it says so
	heard   chan struct{} // closed when it has nothing more to say
	tally   [len(processKeys)]map[string]int64
}

func launch(t *testing.T, url string, retention time.Duration) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(self), stopped: make(chan struct{}), heard: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childURL+"="+url, childRetention+"="+retention.String(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	p.cmd.Stderr = &p.stderr
	for i := range p.tally {
		p.tally[i] = map[string]int64{}
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil { // the test gave up before
			p.kill(t)
		}
	})
	go p.listen(stdout)
	return p
}

// listen counts what the child says.
func (p *process) listen(stdout io.Reader) {
	defer close(p.heard)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		event, key, ok := strings.Cut(lines.Text(), " ")
		switch {
		case event == "stopped":
			close(p.stopped)
		case ok && len(key) == 1: // else it was killed in the middle of a line
			p.tally[key[0]-'0'][event]++
		}
	}
}

// quiet lets the child finish what it has begun.
func (p *process) quiet(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.stopped:
	case <-time.After(time.Minute):
		t.Fatalf("a child does not stop: %s", &p.stderr)
	}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	p.wait(t, -1)
}

// end lets a quiet child close its counter.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.stdin.Close(); err != nil {
		t.Error(err)
	}
	p.wait(t, 0)
}

func (p *process) wait(t *testing.T, code int) {
	t.Helper()
	<-p.heard // or Wait would close the pipe under its reader
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("a child ended with %d, want %d: %s", got, code, &p.stderr)
	}
}

// pause stops the child for a while, as a long garbage collection or a machine that is moved does.
func (p *process) pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	time.Sleep(d)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

// fleet is processes that count in one table, and what those have said that are gone.
type fleet struct {
	*testing.T
	url       string
	retention time.Duration
	random    *rand.Rand
	living    []*process
	dead      []*process
	kills     int
	pauses    int
}

func (f *fleet) start() { f.living = append(f.living, launch(f.T, f.url, f.retention)) }

// replace ends a process, one way or another, and starts a new one.
func (f *fleet) replace(end func(*process)) {
	i := f.random.IntN(len(f.living))
	p := f.living[i]
	f.living = append(f.living[:i:i], f.living[i+1:]...)
	f.dead = append(f.dead, p)
	end(p)
	f.start()
}

func (f *fleet) pause() {
	f.pauses++
	f.living[f.random.IntN(len(f.living))].pause(f.T, time.Duration(300+f.random.IntN(500))*time.Millisecond)
}

// finish ends all processes, half of them by killing them when they have nothing to do.
func (f *fleet) finish() {
	for i, p := range f.living {
		p.quiet(f.T)
		if i%2 == 0 {
			p.end(f.T)
		} else {
			p.kill(f.T)
		}
	}
	f.dead, f.living = append(f.dead, f.living...), nil
}

// sum adds up what all processes have said about a counter.
func (f *fleet) sum(key int, event string) (n int64) {
	for _, p := range f.dead {
		n += p.tally[key][event]
	}
	return n
}

// processTime is how long the processes run.
func processTime() time.Duration {
	if os.Getenv(longEnv) != "" {
		return 4 * time.Minute
	}
	return 3 * time.Second
}

// Processes that are paused for longer than it takes to be folded as dead, that are killed when they have acknowledged
// all they were asked for, and whose requests are throttled, lost, answered never or carried out late, count exactly
// what they acknowledged. All of them fold all the time.
func TestProcessesCountExactly(t *testing.T) {
	t.Parallel() // it waits more than it works
	network := newNetwork(t)
	f := &fleet{T: t, url: network.url, retention: time.Hour, random: rand.New(rand.NewPCG(1, 2))}
	for range 3 {
		f.start()
	}
	for begun := time.Now(); time.Since(begun) < processTime(); {
		f.pause()
		f.replace(func(p *process) {
			p.quiet(t)
			if f.kills++; f.random.IntN(3) == 0 {
				p.end(t)
			} else {
				p.kill(t)
			}
		})
	}
	f.finish()
	network.wait()
	c := open(t, network.direct, Options{})
	for key, name := range processKeys {
		total, err := c.Total(t.Context(), name)
		if counted := f.sum(key, "counted"); err != nil || total != counted || counted != f.sum(key, "begun") {
			t.Errorf("%s is %d, %v; %d were acknowledged, %d begun", name, total, err, counted, f.sum(key, "begun"))
		}
		view, err := c.Inspect(t.Context(), name)
		if err != nil || view.Folded == 0 {
			t.Errorf("%s: nothing was folded: %v", name, err)
		}
		t.Logf("%s: %d acknowledged, %d counted, in %d processes with %d pauses; %d slots folded",
			name, f.sum(key, "counted"), total, len(f.dead), f.pauses, view.Folded)
	}
	t.Logf("of %s", network)
}

// Processes that are killed in the middle of it count everything that they acknowledged, and nothing that they did not
// begin; also if folded slots are removed while their owners are paused.
func TestProcessesThatAreKilled(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	f := &fleet{T: t, url: network.url, retention: 200 * time.Millisecond, random: rand.New(rand.NewPCG(3, 4))}
	for range 3 {
		f.start()
	}
	for begun := time.Now(); time.Since(begun) < processTime(); {
		time.Sleep(time.Duration(100+f.random.IntN(400)) * time.Millisecond)
		f.pause()
		f.replace(func(p *process) {
			f.kills++
			p.kill(t)
		})
	}
	f.finish()
	network.wait()
	c := open(t, network.direct, Options{})
	for key, name := range processKeys {
		total, err := c.Total(t.Context(), name)
		counted, most := f.sum(key, "counted"), f.sum(key, "begun")-f.sum(key, "refused")
		if err != nil || total < counted || total > most {
			t.Errorf("%s is %d, %v; want from %d, which were acknowledged, to %d, which were begun", name, total, err, counted, most)
		}
		t.Logf("%s: %d acknowledged, %d counted, %d begun, %d uncertain, in %d processes of which %d were killed, with %d pauses",
			name, counted, total, f.sum(key, "begun"), f.sum(key, "uncertain"), len(f.dead), f.kills, f.pauses)
	}
	t.Logf("of %s", network)
}
