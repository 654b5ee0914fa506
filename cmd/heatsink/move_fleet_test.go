package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/move"
)

// TestMoveFleet moves the items of several processes by heatsink move, another process, to one layout after the other. They use a heatsink serve that
// throttles and checks signatures. All of them are killed with SIGKILL at some moment, over and over, and started again. HEATSINK_KILLS
// says how often.
//
// The hour that a stage lasts passes in a moment: all processes are killed, the server too, so that no request is on its way any more.
// Then the record's time is set back. That is all that an hour is for.
func TestMoveFleet(t *testing.T) {
	f := newFleet(t)
	f.startServer()
	f.fill(60)
	f.startMembers()
	f.wanted = killsWanted(t)
	moves := []fleetMove{
		{to: "16"},
		{to: "5 fnv {key}/{shard}"},
		{to: "12", back: true},
		{to: "unsharded"},
		{keys: "A=8"},
		{to: "3", back: true},
		{to: "7"},
	}
	for i := 0; i == 0 || f.kills < f.wanted; i++ {
		f.move(moves[i%len(moves)])
	}
	f.end()
}

// TestMoveFleetRests does the same on engines that do not check signatures, and that nobody kills: moves rest when they are split.
func TestMoveFleetRests(t *testing.T) {
	rests := func(t *testing.T, endpoint string) {
		f := newFleet(t)
		f.url, f.key, f.secret = endpoint, "heatsink", "heatsink"
		f.direct = client(f.url, f.key, f.secret)
		f.fill(60)
		f.startMembers()
		f.wanted = max(killsWanted(t)/2, 3)
		for f.next == "" || f.kills < f.wanted {
			if r := f.pursue("--to", "16"); r.Rests == "" || r.Stage.Name != "split" || r.Done {
				t.Errorf("got %+v, want a move that rests when it is split", r)
			}
			f.next = "16" // programs may have it from now on
		}
		f.end()
	}
	t.Run("dynoxide", func(t *testing.T) { rests(t, peer.Start(t)) })
	if endpoint := os.Getenv(enginetest.Endpoint); endpoint != "" {
		t.Run("endpoint", func(t *testing.T) { rests(t, endpoint) })
	}
}

// fleetMove is a move, and whether it is taken back.
type fleetMove struct {
	to, keys string
	back     bool
}

// fleet is a server, members and a mover, all of them processes.
type fleet struct {
	*testing.T
	dir              string
	random           *rand.Rand
	url, key, secret string
	server           *process // nil: somebody else's
	direct           *dynamodb.Client
	now, next        string // layouts; next is "" if there is no move
	statics          int
	members          []*fleetProcess
	lives            int
	kills, wanted    int
	killed           map[string]int
	movers           int
	moved            int64
	unfinished       int // items that a program was killed over when it created them, by --verify
	moves            []string
}

const fleetMembers = 3

func newFleet(t *testing.T) *fleet {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed) // moments of kills are not repeatable anyway
	return &fleet{T: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), now: "4", members: make([]*fleetProcess, fleetMembers), killed: map[string]int{}}
}

// startServer starts the server, at the address that it had before.
func (f *fleet) startServer() {
	f.Helper()
	f.Setenv(accessKeyEnv, "fleet")
	f.Setenv(secretKeyEnv, "of processes")
	f.key, f.secret = "fleet", "of processes"
	address := "127.0.0.1:0"
	if f.url != "" {
		address = strings.TrimPrefix(f.url, "http://")
	}
	f.server = launchAt(f.T, address, filepath.Join(f.dir, "data"), "--physics", "--partition-writes", "300")
	f.url = f.server.waitForURL(f.T)
	f.direct = client(f.url, f.key, f.secret)
}

// fill creates the table with the items that nobody changes.
func (f *fleet) fill(statics int) {
	f.Helper()
	_, err := f.direct.CreateTable(f.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(fleetTable), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
	})
	if err != nil {
		f.Fatal(err)
	}
	if f.server == nil {
		enginetest.DropTable(f.T, f.direct, fleetTable)
	}
	f.statics = statics
	c := f.collection()
	for i := range statics {
		if _, err := c.Put(f.Context(), fleetItem(staticName(i), 1, "")); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *fleet) membership() membership {
	return membership{URL: f.url, Key: f.key, Secret: f.secret, Layout: f.now, Statics: f.statics}
}

func (f *fleet) collection() *heatsink.Collection[heatsink.Item] {
	f.Helper()
	m := f.membership()
	c, err := openFleet(&m)
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// fleetProcess is a process other than the server.
type fleetProcess struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	stdin          io.Closer
	done           chan struct{}
}

// spawn starts this binary in another role.
func (f *fleet) spawn(env []string, args ...string) *fleetProcess {
	f.Helper()
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	p := &fleetProcess{cmd: exec.Command(self, args...), done: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		f.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its state says what became of it
		close(p.done)
	}()
	f.Cleanup(p.kill)
	return p
}

// kill kills a process, and waits until it is gone.
func (p *fleetProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
	_ = p.stdin.Close()
}

func (f *fleet) startMembers() {
	f.Helper()
	for i := range f.members {
		f.startMember(i)
	}
}

// startMember starts a member, with one of the layouts that programs may have.
func (f *fleet) startMember(i int) {
	f.Helper()
	f.lives++
	is := f.membership()
	is.Member, is.Life, is.Log = i, f.lives, f.logOf(i)
	if f.next != "" && f.random.IntN(2) == 0 {
		is.Layout = f.next
	}
	told, err := json.Marshal(is)
	if err != nil {
		f.Fatal(err)
	}
	f.members[i] = f.spawn([]string{asMember + "=" + string(told)})
}

func (f *fleet) logOf(i int) string { return filepath.Join(f.dir, fmt.Sprintf("member-%d.log", i)) }

// killMember kills a member, which must not have ended by itself.
func (f *fleet) killMember(i int) {
	f.Helper()
	m := f.members[i]
	select {
	case <-m.done:
		f.Fatalf("a member ended by itself: %v: %s", m.cmd.ProcessState, &m.stderr)
	default:
	}
	m.kill()
	if m.stderr.Len() > 0 {
		f.Errorf("a member said:\n%s", &m.stderr)
	}
}

// disturb kills a member or the server, and starts it again. It reports whether it was the server.
func (f *fleet) disturb() (server bool) {
	f.Helper()
	f.kills++
	if f.server != nil && f.random.IntN(3) == 0 {
		f.killed["server"]++
		f.server.kill(f.T)
		f.startServer()
		return true
	}
	f.killed["members"]++
	i := f.random.IntN(len(f.members))
	f.killMember(i)
	f.startMember(i)
	return false
}

// anHourPasses lets the stage of the move end.
func (f *fleet) anHourPasses() {
	f.Helper()
	for i := range f.members {
		f.killMember(i)
	}
	f.server.kill(f.T)
	f.kills += len(f.members) + 1
	f.killed["members"] += len(f.members)
	f.killed["server"]++
	f.startServer()
	records, err := f.direct.Scan(f.Context(), &dynamodb.ScanInput{
		TableName: aws.String(fleetTable), FilterExpression: aws.String("begins_with(pk, :record)"), ExpressionAttributeValues: heatsink.Item{":record": text("_hs#P#")},
	})
	if err != nil || len(records.Items) != 1 {
		f.Fatalf("the collection's record: %v, %v", records, err)
	}
	_, err = f.direct.UpdateItem(f.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(fleetTable), Key: heatsink.Item{"pk": records.Items[0]["pk"], "sk": records.Items[0]["sk"]},
		UpdateExpression: aws.String("ADD #at :hour"), ExpressionAttributeNames: map[string]string{"#at": "_hs_at"},
		ExpressionAttributeValues: heatsink.Item{":hour": whole(-int((63 * time.Minute).Milliseconds()))},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.startMembers()
}

// startMover starts heatsink move.
func (f *fleet) startMover(args ...string) *fleetProcess {
	f.Helper()
	f.movers++
	all := append([]string{"move", fleetTable, "--endpoint", f.url, "--yes", "--json", "--wcu", "150"}, args...)
	return f.spawn([]string{asCommand + "=1", "AWS_ACCESS_KEY_ID=" + f.key, "AWS_SECRET_ACCESS_KEY=" + f.secret, "AWS_REGION=us-east-1"}, all...)
}

// result returns what a mover told at its end.
func (p *fleetProcess) result() (r move.Result, ok bool) {
	for line := range bytes.Lines(p.stdout.Bytes()) {
		var last struct{ Result *move.Result }
		if json.Unmarshal(line, &last) == nil && last.Result != nil {
			r, ok = *last.Result, true
		}
	}
	return r, ok
}

// pursue runs a mover until it ends by itself, while processes are killed. It is killed some times itself, and another one works beside it
// now and then.
func (f *fleet) pursue(args ...string) move.Result {
	f.Helper()
	var second *fleetProcess
	defer func() {
		if second != nil {
			f.stop(second)
		}
	}()
	for kills := f.random.IntN(4); ; kills-- {
		p := f.startMover(args...)
		disturbed := false
		if second == nil && f.random.IntN(3) == 0 {
			second = f.startMover(args...)
		}
		ends := make(<-chan time.Time)
		if kills > 0 {
			ends = time.After(300*time.Millisecond + time.Duration(f.random.Int64N(int64(2*time.Second))))
		}
	running:
		for {
			select {
			case <-p.done:
				break running
			case <-ends:
				disturbed = f.stop(p)
				break running
			case <-time.After(100*time.Millisecond + time.Duration(f.random.Int64N(int64(time.Second)))):
				disturbed = f.disturb() || disturbed
			}
		}
		if r, ok := p.result(); ok {
			f.moved += r.Moved
			if code := p.cmd.ProcessState.ExitCode(); code == 0 {
				return r
			}
		}
		if args[0] == "--back" && strings.Contains(p.stderr.String(), "nothing moves") { // a mover that was killed, or the other one, had come to the end
			return move.Result{Done: true}
		}
		if p.cmd.ProcessState.Exited() && !disturbed {
			f.Fatalf("heatsink move %s: %v\n%s%s", strings.Join(args, " "), p.cmd.ProcessState, &p.stdout, &p.stderr)
		}
	}
}

// stop kills a mover, or interrupts it as people do. It reports true.
func (f *fleet) stop(p *fleetProcess) bool {
	f.Helper()
	f.kills++
	if f.random.IntN(3) > 0 {
		f.killed["movers"]++
		p.kill()
		return true
	}
	f.killed["movers, by an interrupt"]++
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		f.Error("a mover that was interrupted does not end within 30 s")
		p.kill()
	}
	return true
}

// move takes a move through all its stages.
func (f *fleet) move(m fleetMove) {
	f.Helper()
	var args []string
	if m.to != "" {
		args = append(args, "--to", m.to)
	}
	if m.keys != "" {
		args = append(args, "--keys", m.keys)
	}
	stages := []string{}
	for {
		r := f.pursue(args...)
		stages = append(stages, r.Stage.Name)
		f.next = m.to // programs may have it from now on
		if m.back && r.Stage.Name == "split" {
			args = []string{"--back"}
			continue
		}
		if r.Done {
			break
		}
		if f.wanted > defaultKills && f.random.IntN(3) == 0 {
			f.verify() // beside the programs
		}
		if len(stages) > 10 {
			f.Fatalf("the move does not end: %q", stages)
		}
		f.anHourPasses()
	}
	f.moves = append(f.moves, fmt.Sprintf("%s%s: %s", m.to, m.keys, strings.Join(stages, ", ")))
	if !m.back && m.to != "" {
		f.now = m.to
	}
	f.next = ""
	f.verify()
	for i := range f.members { // all programs get the new layout, before the one of before is refused
		f.killMember(i)
		f.kills++
		f.killed["members"]++
		f.startMember(i)
	}
	if m.to != "" {
		p := f.startMover("--finish")
		<-p.done
		if !p.cmd.ProcessState.Success() {
			f.Fatalf("heatsink move --finish: %s%s", &p.stdout, &p.stderr)
		}
	}
}

// verify runs heatsink move --verify. It must find nothing, but marks of items that a program was killed over when it created them.
func (f *fleet) verify() {
	f.Helper()
	p := f.startMover("--verify")
	<-p.done
	var report struct{ Report *move.Report }
	for line := range bytes.Lines(p.stdout.Bytes()) {
		if json.Unmarshal(line, &report) == nil && report.Report != nil {
			break
		}
	}
	account := f.account()
	if r := report.Report; r != nil && r.Damaged() == r.Lost && r.Lost == int64(len(r.Findings)) {
		unexplained := slices.DeleteFunc(slices.Clone(r.Findings), func(found move.Finding) bool {
			return account.unfinished(strings.Trim(strings.TrimPrefix(found.Key, "sk "), `"`))
		})
		f.unfinished += int(r.Lost)
		if len(unexplained) == 0 {
			return
		}
	}
	f.Errorf("heatsink move --verify: %v\n%s%s", p.cmd.ProcessState, &p.stdout, &p.stderr)
}

// account adds up what all members have told.
func (f *fleet) account() *fleetAccount {
	f.Helper()
	logs := make([]string, len(f.members))
	for i := range f.members {
		logs[i] = f.logOf(i)
	}
	a, err := fleetAccountOf(logs)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

// end kills everything, and compares what is there with what was acknowledged.
func (f *fleet) end() {
	f.Helper()
	for i := range f.members {
		f.killMember(i)
	}
	if f.server != nil {
		f.server.kill(f.T)
		f.startServer()
	}
	f.verify()
	account := f.account()
	found := map[string]heatsink.Item{}
	c := f.collection()
	for _, key := range fleetKeys {
		last := ""
		for item, err := range c.Query(context.Background(), heatsink.Query{Key: key, Consistent: true}) {
			if err != nil {
				f.Fatal(err)
			}
			id := item["sk"].(*types.AttributeValueMemberS).Value
			if id <= last {
				f.Errorf("%s comes behind %s", id, last)
			}
			last = id
			found[id] = item
			one, err := c.Get(f.Context(), item, strongly)
			if err != nil || show(one) != show(item) {
				f.Errorf("Get of %s: %s, %v: Query has %s", id, show(one), err, show(item))
			}
		}
	}
	wrong := slices.Concat(account.wrong, account.compare(found, f.statics))
	for i, text := range wrong {
		if i == 20 {
			break
		}
		f.Error(text)
	}
	if account.acked < 20 || account.reads < 20 {
		f.Errorf("%d writes acknowledged and %d reads: the run shows nothing", account.acked, account.reads)
	}
	f.Logf("%d writes begun, %d acknowledged, %d refused by their conditions, %d failed for certain; %d reads; %d answers lost; %d wrong",
		account.begun, account.acked, account.refused, account.failed, account.reads, account.lost, len(wrong))
	f.Logf("%d kills %v, %d processes of members, %d movers, %d items moved by those that ended, %d items at the end, %d unfinished ones in reports", f.kills, f.killed, f.lives, f.movers, f.moved, len(found), f.unfinished)
	for _, m := range f.moves {
		f.Logf("move to %s", m)
	}
	if f.server != nil {
		f.server.kill(f.T)
	}
}
