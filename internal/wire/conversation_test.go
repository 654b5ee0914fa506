package wire

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// The conversations in testdata are requests as they are sent, with the answers of
// an engine in memory. Each exchange ends with an empty line; lines that begin
// with # explain.
//
//	GetItem {"TableName":"t","Key":{"id":{"S":"a"}}}
//	----
//	{"Item":{"id":{"S":"a"}}}
//
// Where the answer is an exception, it is written as its type and message. "<N x>"
// in a request is N times x.
//
//	go test ./internal/wire -run Conversations -update
//
// writes the answers that the engine gives into the conversations.
var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) { converse(t, file) })
		})
	}
}

func converse(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := NewHandler(e, Options{Unsigned: true})
	var rewritten []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		asked, answer, ok := strings.Cut(block, "\n----")
		request, want := uncommented(asked), strings.TrimPrefix(answer, "\n")
		switch {
		case !ok && request == "":
			rewritten = append(rewritten, block) // an explanation that stands by itself
			continue
		case !ok:
			t.Fatalf("%s: no ---- after it", request)
		}
		got := answered(t, h, request)
		if got != want && !*update {
			t.Errorf("%s\ngot  %s\nwant %s", request, got, want)
		}
		rewritten = append(rewritten, asked+"\n----\n"+got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(rewritten, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tableID is the one thing in an answer that is random.
var tableID = regexp.MustCompile(`"TableId":"[^"]*"`)

// uncommented returns what is left of a request without its explanation.
func uncommented(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "")
}

// answered returns the answer to a request as it is written down.
func answered(t *testing.T, h *Handler, request string) string {
	t.Helper()
	operation, body, _ := strings.Cut(request, " ")
	target := dynamoDB + operation
	if operations[target] == nil {
		target = streams + operation
	}
	w := do(h, post(target, expanded(t, body)))
	if w.Code == 200 {
		return tableID.ReplaceAllString(w.Body.String(), `"TableId":"…"`)
	}
	var failure struct {
		Type                string `json:"__type"`
		Message             string `json:"message"`
		CancellationReasons []struct{ Code, Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &failure); err != nil {
		t.Fatalf("%s: %d %s", request, w.Code, w.Body)
	}
	_, name, _ := strings.Cut(failure.Type, "#")
	var out strings.Builder
	out.WriteString(name)
	if failure.Message != "" {
		out.WriteString(": " + failure.Message)
	}
	for _, r := range failure.CancellationReasons {
		if r.Code != "None" {
			out.WriteString("\n" + r.Code + ": " + r.Message)
		}
	}
	return out.String()
}

// expanded writes repetitions out.
func expanded(t *testing.T, body string) string {
	t.Helper()
	before, rest, found := strings.Cut(body, "<")
	if !found {
		return body
	}
	var n int
	var what string
	inside, after, closed := strings.Cut(rest, ">")
	if _, err := fmt.Sscanf(inside, "%d %s", &n, &what); err != nil || !closed {
		return before + "<" + expanded(t, rest) // an operator, not a repetition
	}
	return before + strings.Repeat(what, n) + expanded(t, after)
}
