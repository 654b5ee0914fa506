package docs

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// sessions are the pages whose commands are run, in their order, by one shell beside one server, as a reader would who follows the page.
// Before it, what the page takes for granted is set up.
var sessions = map[string]func(*testing.T, *dynamodb.Client){
	"docs/adaptive.md":   grownOrders,
	"docs/choosing.md":   nothing,
	"docs/doctor.md":     strayOrders,
	"docs/guide.md":      nothing,
	"docs/heat.md":       shardedOrders,
	"docs/lab.md":        nothing,
	"docs/local.md":      nothing,
	"docs/operations.md": nothing,
	"docs/physics.md":    shardedOrders,
	"docs/plan.md":       nothing,
	"README.md":          nothing,
}

// elsewhere has the file of the test that runs a page's commands, if that is not here.
var elsewhere = map[string]string{"docs/moving.md": "cmd/heatsink/move_doc_test.go"}

// prelude makes a reader's shell of a test's: the page's server is running already, so that others end when they serve. top ends after a round, the demo
// is the quick one, doctor may find what the page wants found, and programs of the page are built.
const prelude = `set -euo pipefail
until_it_serves() {
	coproc SERVER { exec "$BIN/heatsink" "$@"; }
	local pid=$SERVER_PID line
	read -r line <&"${SERVER[0]}"
	kill -INT $pid
	wait $pid || [ "$1" = demo ] # one that is interrupted has failed
}
heatsink() {
	case "$*" in
	serve*) until_it_serves "$@" --addr 127.0.0.1:0 >/dev/null ;;
	demo*--web*) until_it_serves "$@" >/dev/null ;;
	demo*) command "$BIN/heatsink" "$@" --quick ;;
	top*) command "$BIN/heatsink" "$@" --once ;;
	doctor*--fail-on*) command "$BIN/heatsink" "$@" || [ $? = 1 ] ;;
	*) command "$BIN/heatsink" "$@" ;;
	esac
}
go() {
	case "$1 $2" in
	"run ./cmd/heatsink") shift 2; heatsink "$@" ;;
	"run ./"*) local name="${2#./}"; shift 2; command "$BIN/$PAGE-$name" "$@" ;;
	esac
}
cd() { :; }
mkdir() { :; }
git() { :; }
make() { :; }
if ! command -v curl >/dev/null; then curl() { :; }; fi
if ! command -v jq >/dev/null; then jq() { cat; }; fi
`

// Readers who follow a page get what it shows.
func TestSessions(t *testing.T) {
	dir := binaries(t)
	for path, setup := range sessions {
		t.Run(path, func(t *testing.T) {
			if path != measured { // which runs first, and alone
				t.Parallel()
			}
			p := pageOf(t, path)
			address := serve(t, dir, p)
			setup(t, clientOf(address))
			play(t, dir, address, p)
		})
	}
}

const (
	documented = "127.0.0.1:8000" // where the server is, for readers
	marker     = "-- block at line "
	notRun     = "not run: "     // begins the mark of commands that nobody runs, and says why
	measured   = "docs/guide.md" // the page whose loads are judged
)

// Commands that no test runs say so, with the reason.
func TestWhatIsNotRunSaysSo(t *testing.T) {
	for _, p := range pages(t) {
		_, played := sessions[p.path]
		if file := elsewhere[p.path]; file != "" {
			played = strings.Contains(readFile(t, file), p.path)
		}
		for _, b := range p.blocks {
			if b.lang == "sh" && !played && b.mark != "needs AWS" && !strings.HasPrefix(b.mark, notRun) {
				t.Errorf("%s: no test runs these commands: put the page into the table sessions, or %q in front of them", b, "<!-- "+notRun+"why -->")
			}
		}
	}
}

// play runs the commands of a page, and compares what they print with what it shows.
func play(t *testing.T, dir, address string, p page) {
	t.Helper()
	script, shown, ran := prelude, map[string]block{}, 0
	for i, b := range p.blocks {
		if b.lang != "sh" || b.mark == "needs AWS" || strings.HasPrefix(b.mark, notRun) {
			continue
		}
		ran++
		script += fmt.Sprintf(clock, b.line)
		if b.mark == "meanwhile" { // it runs already
			script += fmt.Sprintf("wait $!; echo '%s%d'\ncat meanwhile.txt\n", marker, b.line)
		} else {
			script += during(p.blocks[i+1:]) + fmt.Sprintf("echo '%s%d'\n%s", marker, b.line, b.text)
		}
		if i+1 < len(p.blocks) && strings.HasPrefix(p.blocks[i+1].mark, "output") {
			shown[fmt.Sprint(b.line)] = p.blocks[i+1]
		}
	}
	if ran == 0 {
		t.Fatal("no command is run: leave the page out of the table")
	}
	script += fmt.Sprintf(clock, 0)
	work := t.TempDir()
	shell := exec.CommandContext(t.Context(), "bash", "-c", strings.NewReplacer(documented, address, ":8080", ":0").Replace(script))
	shell.Dir = work
	shell.Env = append(os.Environ(),
		"BIN="+dir, "PAGE="+strings.NewReplacer("/", "-", ".md", "").Replace(p.path), "HOME="+work, "NO_COLOR=1", "SECRET=of-the-page",
		"AWS_ENDPOINT_URL=http://"+address, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	)
	out, err := shell.CombinedOutput()
	text := strings.ReplaceAll(string(out), address, documented)
	if err != nil {
		t.Fatalf("%v, after\n%s", err, text[max(0, len(text)-2000):])
	}
	t.Log(text)
	timed(t, filepath.Join(work, "clock.txt"), p)
	if p.path == measured {
		wrong, busy := uncooled(text)
		if wrong != "" {
			t.Error(wrong)
		}
		if !busy && !watched.MatchString(text) {
			t.Error("top shows no load of OPEN while there is one")
		}
		t.Logf("the machine was too busy to judge the loads: %t", busy)
	}
	for part := range strings.SplitSeq("\n"+text, "\n"+marker) {
		number, printed, _ := strings.Cut(part, "\n")
		if want, ok := shown[number]; ok {
			compare(t, want, printed)
		}
	}
}

// clock notes when a block begins. Shells before Bash 5 do not tell the time.
const clock = `echo "%d ${EPOCHREALTIME:-0}" >>clock.txt` + "\n"

// timed logs how long each block of commands took: make proof-first-contact reads it.
func timed(t *testing.T, file string, p page) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, began := 0, 0.0
	for entry := range strings.Lines(string(text)) {
		next, at := 0, 0.0
		if _, err := fmt.Sscanf(strings.ReplaceAll(entry, ",", "."), "%d %f", &next, &at); err != nil {
			t.Fatalf("%q: %v", entry, err)
		}
		for _, b := range p.blocks {
			if line != 0 && b.line == line {
				command, _, _ := strings.Cut(b.text, "\n")
				t.Logf("step: %.1f s, line %d: %s", at-began, line, command)
			}
		}
		line, began = next, at
	}
}

// during returns what begins before a block of commands, if the next one is run at the same time. It begins in the middle of the load.
func during(rest []block) string {
	for _, b := range rest {
		switch {
		case b.lang != "sh":
		case b.mark == "meanwhile":
			return fmt.Sprintf("(sleep 5; %s) >meanwhile.txt 2>&1 &\n", strings.TrimSpace(b.text))
		default:
			return ""
		}
	}
	return ""
}

// watched is a line of top about the guide's key.
var watched = regexp.MustCompile(`(?m)^ +\d{2,}\.\d/s .* OPEN  demand`)

var banner = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)

// serve starts the server that the page starts, with its flags, or one with physics. It ends with the test.
func serve(t *testing.T, dir string, p page) (address string) {
	t.Helper()
	args := []string{"serve", "--addr", "127.0.0.1:0"}
	for _, b := range p.blocks {
		for _, words := range commands(b.text) {
			if b.lang == "sh" && words[0] == "heatsink" && words[1] == "serve" && len(args) == 3 {
				args = append(args, words[2:]...)
			}
		}
	}
	if len(args) == 3 {
		args = append(args, "--physics")
	}
	var stderr bytes.Buffer
	server := exec.CommandContext(t.Context(), filepath.Join(dir, "heatsink"), args...)
	server.Stderr, server.Dir = &stderr, t.TempDir()
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	found := banner.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the server does not start: %q, %v, %s", line, err, &stderr)
	}
	done := make(chan struct{})
	go func() { // what else it prints
		defer close(done)
		_, _ = lines.WriteTo(new(bytes.Buffer))
	}()
	t.Cleanup(func() { // t.Context has ended, and with it the server
		<-done
		_ = server.Wait()
		for line := range strings.Lines(stderr.String()) {
			if strings.Contains(line, " level=WARN ") { // about the machine, such as its disk
				t.Logf("the server warned: %s", line)
				continue
			}
			t.Errorf("the server told: %s", line)
		}
	})
	return found[1]
}

// clientOf returns a client of the server at an address.
func clientOf(address string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://" + address), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

var (
	outcomes = regexp.MustCompile(`(?m)^second (?:8|9|10): (\d+) accepted, (\d+) failed`)
	wide     = regexp.MustCompile(`(?m)^OPEN +(\d+) `)
)

// keptUp is how many writes of the guide's 300 a second must have ended in a second. A machine that is too busy for that shows
// neither throttling nor growth.
const keptUp = 200

// uncooled says what is wrong with what the guide is for, whatever its figures are: the key throttles with the SDK alone, and in the end
// hardly with heatsink, because it has grown. Of a machine that did not keep up it only wants all lines.
func uncooled(text string) (wrong string, busy bool) {
	var failed [2]int
	found := outcomes.FindAllStringSubmatch(text, -1)
	for i, match := range found {
		accepted, err := strconv.Atoi(match[1])
		n, err2 := strconv.Atoi(match[2])
		if err != nil || err2 != nil {
			return fmt.Sprintf("no figures: %q", match), busy
		}
		failed[min(1, i/3)] += n
		busy = busy || accepted+n < keptUp
	}
	width := wide.FindStringSubmatch(text)
	switch {
	case len(found) != 6 || width == nil:
		return fmt.Sprintf("there are %d last seconds, want 6, and the ledger is %q", len(found), width), busy
	case busy:
		return "", busy
	case failed[0] == 0 || failed[1] > failed[0]/2:
		return fmt.Sprintf("in the last three seconds %d writes fail with the SDK, and %d with heatsink", failed[0], failed[1]), busy
	case width[1] == "1":
		return "the key has not grown", busy
	}
	return "", busy
}

func TestUncooled(t *testing.T) {
	load := func(accepted, failed int) (text string) {
		for second := range 10 {
			text += fmt.Sprintf("second %d: %d accepted, %d failed\n", second+1, accepted, failed)
		}
		return text
	}
	const grown, narrow = "OPEN  8      1\n", "OPEN  1      0\n"
	for name, c := range map[string]struct {
		text string
		want bool
		busy bool
	}{
		"as it should be":        {load(100, 200) + load(300, 0) + grown, false, false},
		"no throttling":          {load(300, 0) + load(300, 0) + grown, true, false},
		"heatsink does not help": {load(100, 200) + load(100, 200) + grown, true, false},
		"not grown":              {load(100, 200) + load(300, 0) + narrow, true, false},
		"a busy machine":         {load(90, 0) + load(90, 0) + narrow, false, true},
		"a load is missing":      {load(100, 200) + grown, true, false},
		"no ledger":              {load(90, 0) + load(90, 0), true, true},
	} {
		if got, busy := uncooled(c.text); (got != "") != c.want || busy != c.busy {
			t.Errorf("%s: got %q, busy: %t; want a complaint: %t, busy: %t", name, got, busy, c.want, c.busy)
		}
	}
}
