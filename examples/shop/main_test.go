package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The shop starts, answers, shows its page and ends when it is told to, while a browser follows the page. What was stored is there
// when it starts again.
func TestRun(t *testing.T) {
	t.Setenv("SHOP_TOKEN_KEY", "0123456789abcdef")
	dir := t.TempDir()
	likes := func(url string) string {
		answer, err := http.Get(url + "/products/sneaker/likes")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	url, stop := running(t, "-data", dir)
	answer, err := http.Post(url+"/products/sneaker/likes", "", nil)
	if err != nil || answer.StatusCode != http.StatusNoContent {
		t.Fatalf("got %v, %v", answer, err)
	}
	answer.Body.Close()
	events, err := http.Get(url + "/heat/events")
	if err != nil || events.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", events, err)
	}
	defer events.Body.Close()
	stop()

	url, stop = running(t, "-data", dir)
	if got, want := likes(url), `{"likes":1,"product":"sneaker"}`; got != want {
		t.Errorf("after a restart: got %s, want %s", got, want)
	}
	stop()
}

var address = regexp.MustCompile(`shop=(http://\S+)`)

// running starts the shop, and returns its address and what ends it.
func running(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, append(args, "-addr", "127.0.0.1:0"), out); out.Close() }()
	lines := bufio.NewScanner(log)
	for url == "" && lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			url = found[1]
		}
	}
	if url == "" {
		t.Fatalf("the shop did not open: %v", <-ended)
	}
	rest := make(chan struct{})
	go func() { // nobody waits for its log
		_, _ = io.Copy(io.Discard, log)
		close(rest)
	}()
	return url, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-rest
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		key  string
		want string
	}{
		{args: []string{"-nothing"}, want: "-nothing"},
		{args: []string{"naive"}, want: `"naive" is no flag`},
		{args: []string{"-aws", "-data", "x"}, want: "leave -data out"},
		{args: []string{"-limit", "0"}, want: "-limit 0: want 1 to"},
		{args: []string{"-addr", "nowhere"}, want: "nowhere"},
		{key: "short", want: "SHOP_TOKEN_KEY"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Setenv("SHOP_TOKEN_KEY", c.key)
			if err := run(t.Context(), c.args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
