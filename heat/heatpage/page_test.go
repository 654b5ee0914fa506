package heatpage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// browser does with frames what page.js does.
type browser struct {
	rows    map[int]row
	columns []columnFrame
}

func (b *browser) apply(f *frame) {
	if f.Whole {
		*b = browser{rows: make(map[int]row)}
	}
	for _, r := range f.Rows {
		b.rows[r.ID] = *r
	}
	for _, id := range f.Gone {
		b.giveUp(id)
	}
	for _, c := range f.Columns {
		kept := b.columns[:0:0]
		for _, o := range b.columns {
			if o.Start < c.Start || o.Start >= c.Start+int64(1000*c.Seconds) {
				kept = append(kept, o)
			}
		}
		b.columns = append(kept, c)
	}
}

func (b *browser) giveUp(id int) {
	to := 0
	for other, r := range b.rows {
		if r.Kind == othersRow && r.Flow == b.rows[id].Flow {
			to = other
		}
	}
	for i := range b.columns {
		for n, of := range b.columns[i].Rows {
			if of == id {
				b.columns[i].Rows[n] = to
			}
		}
	}
	delete(b.rows, id)
}

// cells returns what a browser draws, by row and time.
func (b *browser) cells() map[string]float64 {
	all := make(map[string]float64)
	for _, c := range b.columns {
		for i, id := range c.Rows {
			name := fmt.Sprintf("%s %s at %d for %v", b.rows[id].Kind, b.rows[id].Key, c.Start, c.Seconds)
			all[name] = math.Round(100*(all[name]+c.Units[i])) / 100
		}
	}
	return all
}

// A browser that has followed from the beginning shows what one shows that comes now.
func TestUpdatesAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, low := noon, make([]float64, 12)
		page, err := New(Options{Rows: 3, Source: func(context.Context) (Round, error) {
			var keys []heat.KeyHeat
			total := 0.0
			for k := range low {
				if rapid.IntRange(0, 2).Draw(t, "asked") > 0 {
					low[k] += float64(rapid.IntRange(0, 50).Draw(t, "units"))
				}
				total += low[k]
				keys = append(keys, heat.KeyHeat{Key: fmt.Sprint("k", k), Low: low[k]})
			}
			return reportOf(now, total, keys...), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		updates := make(chan []byte, 1)
		page.viewers[updates] = struct{}{}
		followed, came := browser{rows: make(map[int]row)}, browser{}
		for range rapid.IntRange(1, 30).Draw(t, "rounds") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 3, 40}).Draw(t, "seconds")) * time.Second)
			page.step(context.Background())
			followed.apply(decode(t, <-updates))
		}
		whole, err := page.whole()
		if err != nil {
			t.Fatal(err)
		}
		came.apply(decode(t, whole))
		if got, want := followed.cells(), came.cells(); !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 0.5 }) {
			t.Errorf("who has followed shows\n%v\nwho comes now\n%v", got, want)
		}
	})
}

func decode(t interface{ Fatal(...any) }, data []byte) *frame {
	var f frame
	f.panels = &panels{}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

// A page whose source fails says why, goes on when it answers again, and lets everybody go at its end.
func TestRun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var away atomic.Bool
		page, err := New(Options{Source: func(context.Context) (Round, error) {
			if away.Load() {
				return Round{}, errors.New("the engine is away")
			}
			return reportOf(time.Now(), 10, heat.KeyHeat{Key: "a", Low: 10}), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { page.Run(ctx) })
		synctest.Wait()
		answer := &bytes.Buffer{}
		request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/events", nil)
		request.RemoteAddr = "127.0.0.1:4000"
		running.Go(func() { page.ServeHTTP(&recorder{ResponseRecorder: httptest.NewRecorder(), to: answer}, request) })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		away.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		away.Store(false)
		time.Sleep(time.Second)
		cancel()
		running.Wait()
		var lost []string
		for lines := bufio.NewScanner(answer); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				lost = append(lost, decode(t, []byte(data)).Lost)
			}
		}
		if want := []string{"", "", "the engine is away", ""}; fmt.Sprint(lost) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", lost, want)
		}
		after := httptest.NewRecorder()
		page.ServeHTTP(after, request)
		if after.Code != http.StatusServiceUnavailable {
			t.Errorf("a page that has ended answers %d", after.Code)
		}
	})
}

// A source that has ended as it was meant to is no trouble.
func TestSourcesEnd(t *testing.T) {
	hide := func(dst, _ []byte) []byte { return append(dst, "hidden"...) }
	for _, test := range []struct {
		source error
		redact func(dst, key []byte) []byte
		want   string
		ended  bool
	}{
		{fmt.Errorf("the demo has %w", ErrEnded), nil, "the demo has ended", true},
		{fmt.Errorf("the act of SECRET has %w", ErrEnded), hide, "the source has ended", true},
		{errors.New("no access"), nil, "no access", false},
		{nil, nil, "", false},
	} {
		page, err := New(Options{Redact: test.redact, Source: func(context.Context) (Round, error) { return reportOf(noon, 1), test.source }})
		if err != nil {
			t.Fatal(err)
		}
		page.step(context.Background())
		if f := page.frame; f.Lost != test.want || f.Ended != test.ended {
			t.Errorf("%v: got %q, ended %t", test.source, f.Lost, f.Ended)
		}
	}
}

// recorder is a client that takes whatever it is sent.
type recorder struct {
	*httptest.ResponseRecorder
	to *bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) { return r.to.Write(p) }

// One who does not take frames is let go, and the others are not held up.
func TestSlowBrowserIsLetGo(t *testing.T) {
	page, err := New(Options{Source: func(context.Context) (Round, error) { return reportOf(noon, 1), nil }})
	if err != nil {
		t.Fatal(err)
	}
	slow := make(chan []byte, 2)
	page.viewers[slow] = struct{}{}
	for range 4 {
		page.step(context.Background())
	}
	if len(page.viewers) != 0 {
		t.Error("it is still there")
	}
	for range slow { // closed
	}
}

func TestGuard(t *testing.T) {
	for _, test := range []struct {
		about                        string
		options                      Options
		method, host, remote, bearer string
		path                         string
		header                       string
		want                         int
	}{
		{about: "an address", want: 200},
		{about: "localhost", host: "localhost:8000", want: 200},
		{about: "IPv6", host: "[::1]:8000", remote: "[::1]:5", want: 200},
		{about: "a name that leads here", host: "evil.example", want: 403},
		{about: "a name that is allowed", host: "Heat.example.", options: Options{Hosts: []string{"heat.example"}}, want: 200},
		{about: "another machine", remote: "10.0.0.7:5", want: 403},
		{about: "another machine without its token", remote: "10.0.0.7:5", options: Options{Token: "0123456789"}, want: 401},
		{about: "another machine with its token", remote: "10.0.0.7:5", options: Options{Token: "0123456789"}, bearer: "0123456789", want: 200},
		{about: "a wrong token", options: Options{Token: "0123456789"}, bearer: "0123456788", want: 401},
		{about: "a token in the address", options: Options{Token: "0123456789"}, path: "/?token=0123456789", want: 200},
		{about: "an odd token in the address", options: Options{Token: `geheim;"1 ä`}, path: "/?token=geheim%3B%221%20%C3%A4", want: 200},
		{about: "a change", method: http.MethodPost, want: 405},
		{about: "a proxy without a token", header: "X-Forwarded-For", want: 403},
		{about: "another proxy without a token", header: "Forwarded", want: 403},
		{about: "yet another proxy without a token", header: "X-Real-IP", want: 403},
		{about: "a proxy with a token", header: "X-Forwarded-For", options: Options{Token: "0123456789"}, bearer: "0123456789", want: 200},
		{about: "another path", path: "/etc/passwd", want: 404},
	} {
		t.Run(test.about, func(t *testing.T) {
			test.options.Source = Of(nil)
			page, err := New(test.options)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(or(test.method, http.MethodGet), or(test.path, "/"), nil)
			r.Host, r.RemoteAddr = or(test.host, "127.0.0.1:8000"), or(test.remote, "127.0.0.1:5")
			if test.bearer != "" {
				r.Header.Set("Authorization", "Bearer "+test.bearer)
			}
			if test.header != "" {
				r.Header.Set(test.header, "8.8.8.8")
			}
			w := httptest.NewRecorder()
			page.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, test.want)
			}
			if test.want == 200 && strings.Contains(test.path, "token") {
				again := httptest.NewRequest(http.MethodGet, "/", nil)
				again.Host, again.RemoteAddr = "127.0.0.1", "10.0.0.7:6"
				for _, c := range w.Result().Cookies() {
					again.AddCookie(c)
				}
				w = httptest.NewRecorder()
				page.ServeHTTP(w, again)
				if w.Code != 200 {
					t.Errorf("with its cookie got %d", w.Code)
				}
			}
		})
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// A key cannot become a part of the document, and what is saved has all that was seen. Redacted keys are nowhere.
func TestExport(t *testing.T) {
	const odd = "</script><script>alert(1)</script>"
	for _, redact := range []func(dst, key []byte) []byte{nil, heat.Hashed([]byte("secret"))} {
		page, err := New(Options{Redact: redact, Source: func(context.Context) (Round, error) {
			return reportOf(noon, 5, heat.KeyHeat{Key: odd, Low: 5, Second: 5, RateLow: 5}), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		page.step(context.Background())
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/export.html", nil)
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if body := w.Body.String(); strings.Count(body, "</script>") != 2 || strings.Contains(body, "{{") {
			t.Errorf("got %s", body)
		}
		if has := strings.Contains(w.Body.String(), `alert(1)`); has != (redact == nil) {
			t.Errorf("the key is shown: %t", has)
		}
	}
}

// Figures that JSON cannot hold, or whose sum it cannot, are shown as others, and the page says so.
func TestImpossibleFigures(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308} {
		at := noon
		page, err := New(Options{Source: func(context.Context) (Round, error) {
			at = at.Add(time.Second)
			r := reportOf(at, x, heat.KeyHeat{Key: "a", Low: x, Second: x, Units: x, Rate: x, RateLow: x, Busy: x, Share: x, Refused: x})
			r.Limits.WriteUnits, r.Resources[0].Writes.Peak, r.Resources[0].Writes.Trend = x, x, []heat.Point{{From: at, For: time.Second, Units: x}}
			r.Partitions = []partitions.Heat{{Table: "t", Partitions: []partitions.Partition{{ID: 1, Seconds: []partitions.Second{{Start: at, WriteUnits: x, WriteThrottled: x}}}}}}
			return r, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			page.step(context.Background())
			data, err := page.whole()
			if err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			if f := decode(t, data); f.Lost != "" || !strings.Contains(strings.Join(f.Notes, "\n"), "figures of the source are impossible") {
				t.Errorf("%v: got %q, %q", x, f.Lost, f.Notes)
			}
		}
	}
}

// A frame that has no form is said to be lost, and the page is not saved in part.
func TestFrameWithoutAForm(t *testing.T) {
	page, err := New(Options{Source: Of(nil)})
	if err != nil {
		t.Fatal(err)
	}
	viewer := make(chan []byte, 2)
	page.viewers[viewer] = struct{}{}
	page.frame.panels = &panels{Flows: []flowPanel{{Limit: math.NaN()}}}
	page.send(page.frame)
	page.sendWhole()
	for range 2 {
		select {
		case data := <-viewer:
			if f := decode(t, data); !strings.Contains(f.Lost, "the round cannot be shown: json: unsupported value: NaN") {
				t.Errorf("got %q", f.Lost)
			}
		default:
			t.Error("the page is silent")
		}
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/export.html", nil)
	r.RemoteAddr = "127.0.0.1:5"
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || w.Header().Get("Content-Disposition") != "" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
}

func TestOptions(t *testing.T) {
	_, err := New(Options{Every: time.Millisecond, Rows: -1, Token: "abc"})
	for _, want := range []string{"Options.Source is missing", "Options.Every is 1ms", "Options.Rows is -1", "Options.Token has fewer"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
