package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// seedFile has a world and conversations on it, a line for each request, as they
// are sent after each other. The first block is the world.
const seedFile = "testdata/surface.seeds"

// surfaceSeeds returns the world of the seeds and their conversations.
func surfaceSeeds(t testing.TB) (world string, conversations []string) {
	t.Helper()
	text, err := os.ReadFile(seedFile)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(block, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
		conversations = append(conversations, strings.Join(lines, "\n"))
	}
	return conversations[0], conversations[1:]
}

// surface is a client that asks anything of an engine with tables, and remembers
// from the answers what later requests may need.
type surface struct {
	testing.TB
	handler *Handler
	engine  *engine.Engine
	heard   map[string]string // JSON, by the member's name
	whole   string            // the stream that has all changes of its table
}

// newSurface returns a client of an engine on which the world is.
func newSurface(t testing.TB, world string) *surface {
	t.Helper()
	e, err := engine.Open(engine.Options{
		TTLInterval: time.Hour,                                                 // an item that expires between two reads would look like one that is lost
		Physics:     &partition.Options{Burst: time.Hour, Window: time.Minute}, // enough for a conversation and its checks
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &surface{TB: t, engine: e, handler: NewHandler(e, Options{Unsigned: true}), heard: map[string]string{}}
	for line := range strings.Lines(world) {
		if status, answer := s.ask(line, nil); status != http.StatusOK {
			t.Fatalf("%s is answered %d %s", strings.TrimSpace(line), status, answer)
		}
	}
	if err := json.Unmarshal([]byte(s.heard["LatestStreamArn"]), &s.whole); err != nil {
		t.Fatalf("the world has no stream: %v", err)
	}
	return s
}

func (s *surface) close() {
	if err := s.engine.Close(); err != nil {
		s.Error(err)
	}
}

// placeholder is a part of a request that an earlier answer fills in.
var placeholder = regexp.MustCompile(`"?<[A-Z][A-Za-z]+>"?`)

// patience is how long a request may take on the slowest of machines.
const patience = time.Minute

// ask sends a line, changed by edits, and checks the form of the answer.
func (s *surface) ask(line string, edits *script) (status int, answer string) {
	s.Helper()
	operation, body, _ := strings.Cut(strings.TrimSpace(line), " ")
	body = placeholder.ReplaceAllStringFunc(body, func(name string) string {
		if value, ok := s.heard[strings.Trim(name, `"<>`)]; ok {
			return value
		}
		return name
	})
	operation, body = edits.change(operation, body)
	target := dynamoDB + operation
	if operations[target] == nil {
		target = streams + operation
	}
	return s.send(target, body)
}

// send sends a request. Any answer must be one that a client understands, and
// none may be the server's fault.
func (s *surface) send(target, body string) (status int, answer string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	hang := time.AfterFunc(2*patience, func() { panic("no answer, and no end with its context: " + target + " " + body) })
	defer hang.Stop()
	w := do(s.handler, post(target, body).WithContext(ctx))
	answer = w.Body.String()
	if w.Code >= http.StatusInternalServerError {
		s.Fatalf("%s %s\nis answered %d %s", target, body, w.Code, answer)
	}
	if w.Code == http.StatusOK && answer == "" && (strings.HasSuffix(target, "tagResource") || strings.HasSuffix(target, "TagResource")) {
		return w.Code, answer // these two have no body
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(answer), &object); err != nil {
		s.Fatalf("%s %s\nis answered %d %q, which is no JSON object: %v", target, body, w.Code, answer, err)
	}
	if w.Code != http.StatusOK {
		s.checkError(target+" "+body, object)
	}
	s.listen([]byte(answer))
	return w.Code, answer
}

// checkError checks that an error has a type and a message. Two types of DynamoDB
// have a message only sometimes.
func (s *surface) checkError(request string, answer map[string]any) {
	s.Helper()
	kind, _ := answer["__type"].(string)
	_, kind, _ = strings.Cut(kind, "#")
	message, _ := answer["message"].(string)
	if message == "" {
		message, _ = answer["Message"].(string)
	}
	bare := kind == engine.TypeSerialization || kind == engine.TypeUnknownOperation
	if kind == "" || message == "" && !bare {
		s.Fatalf("%s\nis answered with an error without type or message: %v", request, answer)
	}
}

// listen remembers the members of an answer, also those inside of others.
func (s *surface) listen(answer []byte) {
	var object map[string]json.RawMessage
	var array []json.RawMessage
	switch {
	case json.Unmarshal(answer, &object) == nil:
		for name, value := range object {
			s.heard[name] = string(value)
			s.listen(value)
		}
	case json.Unmarshal(answer, &array) == nil:
		for _, value := range array {
			s.listen(value)
		}
	}
}

// Every operation has a seed that succeeds, so that the fuzz target reaches what
// is behind the checks of its parameters.
func TestSurfaceSeeds(t *testing.T) {
	world, conversations := surfaceSeeds(t)
	seeded := map[string]bool{}
	for _, c := range append(conversations, world) {
		for line := range strings.Lines(c) {
			operation, _, _ := strings.Cut(line, " ")
			seeded[operation] = true
		}
	}
	for _, group := range missing {
		for _, operation := range group.names {
			seeded[operation] = true // it always fails
		}
	}
	for target := range operations {
		_, operation, _ := strings.Cut(target, ".")
		if !seeded[operation] {
			t.Errorf("%s has no conversation in %s", operation, seedFile)
		}
	}
	for _, c := range conversations {
		s := newSurface(t, world)
		for line := range strings.Lines(c) {
			if status, answer := s.ask(line, nil); status != http.StatusOK {
				t.Errorf("%s is answered %d %s", strings.TrimSpace(line), status, answer)
			}
		}
		s.checkTables()
		s.close()
	}
}

// Whatever is asked, in whatever order, is answered in DynamoDB's form, never with
// an error of the server's own, and leaves tables, indexes and streams that agree.
//
// The edits change the requests as JSON, so that what comes of them is mostly a
// request that passes the first checks. See script.
func FuzzOperations(f *testing.F) {
	world, conversations := surfaceSeeds(f)
	for i, c := range conversations {
		f.Add(c, []byte{})
		f.Add(c, fmt.Appendf(nil, "%d edits of some kind", i))
	}
	for _, c := range goldenRequests(f) {
		conversations = append(conversations, c)
		f.Add(c, []byte{})
	}
	parts := partsOf(append(conversations, world))
	f.Fuzz(func(t *testing.T, conversation string, edits []byte) {
		s := newSurface(t, world)
		defer s.close()
		e := &script{parts: parts, left: edits}
		for line := range strings.Lines(conversation) {
			s.ask(line, e)
		}
		s.checkTables()
	})
}

// goldenRequests are the requests of the conversations that have written answers,
// those of a file together.
func goldenRequests(t testing.TB) (all []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for block := range strings.SplitSeq(string(text), "\n\n") {
			asked, _, _ := strings.Cut(block, "\n----")
			lines = append(lines, uncommented(asked))
		}
		for few := range slices.Chunk(lines, 12) {
			all = append(all, strings.Join(few, "\n"))
		}
	}
	return all
}
