package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// A browser gets the page, and everybody else what DynamoDB answers.
func TestServeAnswersBrowsers(t *testing.T) {
	t.Parallel()
	s := serve(t, "--physics")
	if status, kind, body := askFor(t, http.MethodGet, s.url+"/", "text/html,*/*"); status != 200 || !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "heat map") {
		t.Errorf("a browser gets %d %s %.100s", status, kind, body)
	}
	if _, _, body := askFor(t, http.MethodGet, s.url+"/", "*/*"); !strings.HasPrefix(body, "healthy: dynamodb.") {
		t.Errorf("curl gets %.100s", body)
	}
	if _, kind, body := askFor(t, http.MethodGet, s.url+"/export.html", "*/*"); !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, `"whole":true`) {
		t.Errorf("the file is %s %.100s", kind, body)
	}
	plain := serve(t)
	if _, _, body := askFor(t, http.MethodGet, plain.url+"/", "text/html,*/*"); !strings.HasPrefix(body, "healthy: dynamodb.") {
		t.Errorf("without physics a browser gets %.100s", body)
	}
}

// A server whose clients must sign has a page for those who have its token, and tells nobody else which keys are hot.
func TestServeHasAPageWithAToken(t *testing.T) {
	signed := []string{"--physics", "--access-key", testKey, "--secret-key", testSecret}
	without := serve(t, signed...)
	if _, _, body := askFor(t, http.MethodGet, without.url+"/", "text/html,*/*"); strings.Contains(body, "heat map") {
		t.Errorf("without a token, a browser gets %.100s", body)
	}
	t.Setenv(tokenEnv, "0123456789")
	s := serve(t, signed...)
	for path, want := range map[string]int{
		"/": 401, "/events": 401, "/export.html": 401, "/?token=0123456788": 401, "/?token=0123456789": 200, "/export.html?token=0123456789": 200,
		"/heat?token=0123456789": 404, "/partitions?token=0123456789": 404,
	} {
		if status, _, body := askFor(t, http.MethodGet, s.url+path, "text/html,*/*"); status != want {
			t.Errorf("%s: got %d %.100s, want %d", path, status, body, want)
		}
	}
	if status, _, _ := askFor(t, http.MethodPost, s.url+"/?token=0123456789", "*/*"); status == 200 {
		t.Error("the token lets a client in who does not sign")
	}
}

// The page of a server hides keys where that is asked for.
func TestServeHashesKeys(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t, "--hash-keys", "secret")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	hash := string(heat.Hashed([]byte("secret"))(nil, []byte("PAGE#viral")))
	frames := bufio.NewReader(response.Body)
	for {
		line, err := frames.ReadString('\n')
		switch {
		case err != nil:
			t.Fatalf("the page ends without the hash: %v", err)
		case strings.Contains(line, "viral"):
			t.Fatal("the page has the key")
		case strings.Contains(line, hash):
			return
		}
	}
}

// What top saves has the keys that it saw, and hashes where they are hidden.
func TestTopSavesAPage(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	for _, hidden := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "page.html")
		args := []string{"top", "things", "--endpoint", url, "--last", "2s", "--every", "100ms", "--save-page", file}
		if hidden {
			args = append(args, "--hash-keys", "secret")
		}
		if _, stderr, code := command(t, args...); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(page), "PAGE#viral"); has == hidden || !strings.Contains(string(page), "things writes") {
			t.Errorf("hidden %t: the page has the key: %t", hidden, has)
		}
	}
}

// The page of the demo tells of the key that grows with the figures of the decision, once. Seconds after the growth it has no advice
// for the key as it was before. At the end it says so, and that is no trouble.
func TestPageOfTheDemo(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
		d := &demo{screen: silent(), load: load{perSecond: 500, units: 16, runIn: time.Second, measured: 2 * time.Second}, key: demoKey, heat: &demoHeat{}}
		page, err := heatpage.New(heatpage.Options{Source: d.heat.round, Ledger: d.heat.ledger})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { page.Run(ctx) })
		if err := d.run(ctx); err != nil {
			t.Error(err)
		}
		d.heat.end()
		time.Sleep(2 * time.Second)
		cancel()
		running.Wait()
		var saved strings.Builder
		if err := page.Export(&saved); err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(saved.String(), `id="data" nonce="">`)
		var f struct {
			Lost     string
			Ended    bool
			Findings []heat.Finding
			Keys     []struct{ Flow, Key, Words string }
			Events   []struct{ Resource, Text string }
		}
		if err := json.NewDecoder(strings.NewReader(data)).Decode(&f); err != nil {
			t.Fatalf("%v in %.200s", err, data)
		}
		if f.Lost != "the demo has ended" || !f.Ended {
			t.Errorf("got %q, ended %t", f.Lost, f.Ended)
		}
		// Without time of its own, reading back is a burst: only writes are looked at.
		f.Findings = slices.DeleteFunc(f.Findings, func(f heat.Finding) bool { return f.Direction == heat.Read })
		if len(f.Findings) != 1 || f.Findings[0].Kind != heat.KeyGrew || strings.HasPrefix(f.Findings[0].Evidence[0], "0 ") || !strings.Contains(f.Findings[0].Evidence[0], "% throttled by key range") {
			t.Errorf("got %+v", f.Findings)
		}
		for _, k := range f.Keys {
			if strings.HasSuffix(k.Flow, "writes") && k.Words != "" {
				t.Errorf("%s is %s", k.Key, k.Words)
			}
		}
		grown := 0
		for _, e := range f.Events {
			if strings.HasPrefix(e.Resource, "act 4") {
				grown++
			}
		}
		if grown != 1 {
			t.Errorf("got %+v, want one growth in act 4", f.Events)
		}
	})
}

func TestPageRefusesWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"top t --web 127.0.0.1:0 --json": "leave --json, --plain and --once out",
		"top t --save-page x.html":       "give --last, or --web",
		"demo --web 0.0.0.0:0":           "other machines could read the keys: set HEATSINK_PAGE_TOKEN",
		"demo --web nowhere":             "give a host and a port",
		"demo --web 127.0.0.1:99999":     "give a host and a port",
	} {
		if _, stderr, code := command(t, strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}
