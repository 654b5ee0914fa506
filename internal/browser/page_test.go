package browser

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// command is the built heatsink.
var command string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "heatsink-browser")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		command = filepath.Join(dir, "heatsink")
		build := exec.Command("go", "build", "-o", command, "./cmd/heatsink")
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v\n%s", err, out))
		}
		return m.Run()
	}())
}

// server is a heatsink serve --physics. A partition takes few writes, so that little traffic makes it hot.
type server struct {
	url    string
	client *dynamodb.Client
	stop   func()
}

func serve(t *testing.T, addr string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command, "serve", "--physics", "--partition-writes", "20", "--addr", addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	s := &server{stop: func() { once.Do(func() { cancel(); _ = cmd.Wait() }) }} // it was killed
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the server says nothing")
	}
	for word := range strings.FieldsSeq(lines.Text()) {
		if url, ok := strings.CutPrefix(word, "AWS_ENDPOINT_URL="); ok {
			s.url = url
		}
	}
	s.client = dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &s.url, RetryMaxAttempts: 1, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
	})})
	_, err = s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("posts"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put writes an item so often, and returns how many writes were served.
func (s *server) put(t *testing.T, key string, times int) (served int) {
	t.Helper()
	for range times {
		_, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("posts"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}}})
		if err == nil {
			served++
		}
	}
	return served
}

// tab is a browser with one page, whose faults are the test's.
type tab struct {
	context.Context
	mu     sync.Mutex
	faults []string
	asked  []string // addresses of all requests
}

func open(t *testing.T) *tab {
	t.Helper()
	ctx, end, err := Open(context.Background(), 1200, 900)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	b := &tab{Context: ctx}
	b.do(t, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		if err == nil {
			_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
		}
		return err
	}))
	listen(b, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) {
		b.faults = append(b.faults, fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	})
	listen(b, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) { b.faults = append(b.faults, fmt.Sprintf("console.%s", e.Type)) })
	listen(b, cdplog.EntryAdded, func(e cdplog.EventEntryAdded) { b.faults = append(b.faults, e.Entry.Text) })
	listen(b, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) { b.asked = append(b.asked, e.Request.URL) })
	return b
}

// listen takes events until the browser is closed.
func listen[E any](b *tab, event cdp.Event[E], take func(E)) {
	events := chromedp.Events(b, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			b.mu.Lock()
			take(e)
			b.mu.Unlock()
		}
	}()
}

// patience is how long one step may take. This machine may be busy.
const patience = 90 * time.Second

func (b *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, steps...); err != nil {
		t.Fatal(err)
	}
}

// until waits for an expression to be true.
func (b *tab) until(t *testing.T, expression string) {
	t.Helper()
	if _, err := chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(patience))); err != nil {
		status, _ := chromedp.Run(b, chromedp.Evaluate[string](`document.getElementById("status").textContent`))
		t.Fatalf("%v: %s; the status is %q", err, expression, status)
	}
}

func ask[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// noFaults fails the test for errors on the console, and for requests to anybody else.
func (b *tab) noFaults(t *testing.T, own string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		t.Errorf("the console has %s", f)
	}
	for _, url := range b.asked {
		if !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asks for %s", url)
		}
	}
}

// sumOf is what a key took in all cells.
const sumOf = `(key, part) => { let sum = 0; for (const c of heatpage.state.columns) c.r.forEach((slot, i) => { const r = heatpage.state.slots[slot]; if (r && (r.kind === "partition" ? key === null : r.kind === "key" && r.key === key)) sum += c[part][i]; }); return Math.round(sum); }`

func TestPageDrawsWhatTheEngineMeasured(t *testing.T) {
	s, b := serve(t, "127.0.0.1:0"), open(t)
	b.do(t, chromedp.Navigate(s.url))
	b.until(t, `heatpage.state.source === "engine"`)
	s.put(t, "COLD", 3)
	served := s.put(t, "POST#viral", 400)
	if served == 400 {
		t.Fatal("nothing was throttled")
	}
	b.until(t, fmt.Sprintf(`(%s)("POST#viral", "u") >= %d && heatpage.lines().length > 0`, sumOf, served))
	if got := ask[int](t, b, fmt.Sprintf(`(%s)("POST#viral", "u")`, sumOf)); got != served {
		t.Errorf("the page has %d units, the engine served %d", got, served)
	}
	if got := ask[int](t, b, fmt.Sprintf(`(%s)("POST#viral", "x")`, sumOf)); got != 400-served {
		t.Errorf("the page has %d throttled, the engine throttled %d", got, 400-served)
	}
	// The partition that has the key took as much as its keys.
	if got := ask[int](t, b, fmt.Sprintf(`(%s)(null, "u")`, sumOf)); got != served+3 {
		t.Errorf("partitions have %d units, want %d", got, served+3)
	}
	// The hottest cell has the colour of its load, and a throttled one its mark.
	pixels := ask[[]string](t, b, `(() => {
		heatpage.draw();
		const line = heatpage.lines().find((l) => l.key === "POST#viral");
		let best = null, at = null;
		for (const time of heatpage.times()) { const d = heatpage.cell(line, time); if (d.refused && (!best || d.load > best.load)) { best = d; at = time; } }
		const dots = devicePixelRatio, x = (heatpage.x(at.t) + heatpage.x(at.end)) / 2, y = heatpage.axis + line.y;
		const all = document.getElementById("canvas").getContext("2d").getImageData(Math.round(x * dots), Math.round(y * dots), 1, line.h * dots).data;
		const drawn = (y) => { const n = 4 * Math.round(y * dots); return colour("rgb(" + all[n] + "," + all[n + 1] + "," + all[n + 2] + ")"); };
		const colour = (text) => { const probe = document.createElement("canvas").getContext("2d"); probe.fillStyle = text; return probe.fillStyle; };
		return [drawn(4), colour(heatpage.colour(best.load)), drawn(line.h - 3), colour(getComputedStyle(document.documentElement).getPropertyValue("--mark").trim())];
	})()`)
	if pixels[0] != pixels[1] || pixels[2] != pixels[3] {
		t.Errorf("pixels are %s and %s, want %s and %s", pixels[0], pixels[2], pixels[1], pixels[3])
	}
	// Who looks by keyboard gets the cell in words, with its partition and its remedy.
	b.do(t, chromedp.Focus(chromedp.CSS("#canvas")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	b.until(t, `!document.getElementById("detail").hidden`)
	if text := ask[string](t, b, `document.getElementById("cell").textContent + "\n" + document.getElementById("detail").textContent`); !strings.Contains(text, "POST#viral") || !strings.Contains(text, "write units/s") || !strings.Contains(text, "partitions") {
		t.Errorf("the selected cell says %q", text)
	}
	s.put(t, "POST#viral", 100)
	b.until(t, `/POST#viral.*its partition serves no more writes/.test(document.getElementById("keys").textContent)`)
	b.until(t, `!document.getElementById("keys").textContent.includes("serves no more writes")`) // it is over
	b.noFaults(t, s.url)
}

func TestPageSurvivesARestart(t *testing.T) {
	s, b := serve(t, "127.0.0.1:0"), open(t)
	b.do(t, chromedp.Navigate(s.url))
	s.put(t, "before", 5)
	b.until(t, fmt.Sprintf(`(%s)("before", "u") === 5`, sumOf))
	s.stop()
	b.until(t, `document.getElementById("status").textContent.includes("does not answer")`)
	s = serve(t, strings.TrimPrefix(s.url, "http://"))
	s.put(t, "after", 4)
	b.until(t, fmt.Sprintf(`(%s)("after", "u") === 4 && (%s)("before", "u") === 0`, sumOf, sumOf))
	if text := ask[string](t, b, `document.getElementById("status").textContent`); !strings.HasPrefix(text, "live") {
		t.Errorf("the status is %q", text)
	}
}

// A saved page shows the same, asks nobody for anything, and works without a server.
func TestSavedPage(t *testing.T) {
	s, b := serve(t, "127.0.0.1:0"), open(t)
	s.put(t, "warm", 1)
	time.Sleep(1500 * time.Millisecond) // until the page has begun to look
	served := s.put(t, "POST#viral", 60)
	b.do(t, chromedp.Navigate(s.url))
	b.until(t, fmt.Sprintf(`(%s)("POST#viral", "u") >= %d`, sumOf, served))
	answer, err := http.Get(s.url + "/export.html")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	file := filepath.Join(t.TempDir(), "saved.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	out.Close()
	s.stop()
	saved := open(t)
	saved.do(t, chromedp.Navigate("file://"+file))
	saved.until(t, `heatpage.lines().length > 0`)
	if got := ask[int](t, saved, fmt.Sprintf(`(%s)("POST#viral", "u")`, sumOf)); got != served {
		t.Errorf("the saved page has %d units, the engine served %d", got, served)
	}
	if text := ask[string](t, saved, `document.getElementById("status").textContent`); !strings.HasPrefix(text, "saved") {
		t.Errorf("the status is %q", text)
	}
	saved.noFaults(t, "file://"+file)
}

// contrasts returns texts that are hard to read: below 4.5 to 1, as WCAG measures it.
const contrasts = `(() => {
	const rgb = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const back = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.offsetParent || e.closest("script,style")) continue;
		const a = light(rgb(getComputedStyle(e).color)), b = light(back(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push(e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30) + ": " + ratio.toFixed(2));
	}
	return bad;
})()`

func TestPageIsAccessible(t *testing.T) {
	s, b := serve(t, "127.0.0.1:0"), open(t)
	b.do(t, chromedp.Navigate(s.url))
	b.until(t, `heatpage.state.source === "engine"`)
	s.put(t, "POST#viral", 200)
	b.until(t, `document.querySelector("#keys table") !== null`)
	b.do(t, chromedp.Focus(chromedp.CSS("#canvas")), chromedp.KeyEvent(kb.ArrowDown))
	for _, theme := range []string{"light", "dark"} {
		b.do(t, chromedp.SetValue(chromedp.CSS("#theme"), theme), chromedp.Evaluate[chromedp.Void](`document.getElementById("theme").dispatchEvent(new Event("change"))`))
		if bad := ask[[]string](t, b, contrasts); len(bad) > 0 {
			t.Errorf("%s: hard to read: %s", theme, strings.Join(bad, "; "))
		}
	}
	tree, err := chromedp.Call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, n := range tree.Nodes {
		if n.Role == nil || n.Ignored {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		switch role {
		case "combobox", "button", "checkbox", "link", "application", "meter", "region", "heading":
			named++
			if n.Name == nil || strings.Trim(string(n.Name.Value), `"`) == "" {
				t.Errorf("a %s has no name", role)
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d controls were looked at", named)
	}
	b.do(t, chromedp.EmulateViewport(375, 700, chromedp.EmulateScale(2), chromedp.EmulateMobile))
	b.until(t, `innerWidth === 375`)
	if wide := ask[int](t, b, `document.documentElement.scrollWidth`); wide > 375 {
		t.Errorf("on a phone the page is %d wide", wide)
	}
	// No table has a column of single letters, not on a phone either: what has no room is scrolled.
	narrow := ask[[]string](t, b, `[...document.querySelectorAll("table")].flatMap((t) => [...t.rows].map((r) => r.cells[0])).filter((c) => c.getBoundingClientRect().width < 50 || c.offsetHeight > 90).map((c) => c.closest("div").id + ": " + c.textContent)`)
	if tables := ask[int](t, b, `document.querySelectorAll("#partitions table, #flows table").length`); tables != 2 || len(narrow) > 0 {
		t.Errorf("of %d tables, first columns have no room: %q", tables, narrow)
	}
	b.noFaults(t, s.url)
}
