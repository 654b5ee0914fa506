package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// visitor asks a shop.
type visitor struct {
	*testing.T
	client *http.Client
	name   string
}

// visit opens a shop on an engine without physics, whose requests may go wrong.
func visit(t *testing.T, c config, decide faulty.Decide) visitor {
	t.Helper()
	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := local.Start(t)
	client := faulty.On(t, engine.Client(recorder.Option), decide)
	return visitor{t, start(t, &database{client: client.Client, recorder: recorder, engine: engine}, c), "test"}
}

// ask sends a request and fails the test if the answer has another status. It returns the answer's JSON.
func (v visitor) ask(want int, method, path, body string) (answer struct {
	ID, Status, Outcome, Next string
	Items                     []struct{ ID, Status, Customer string }
	Cents, Likes              int64
	Rank                      int
	Views                     map[string]int
	Error                     struct{ Code, Message string }
	header                    http.Header
},
) {
	v.Helper()
	r, err := http.NewRequest(method, "http://shop"+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("X-Client", v.name)
	got, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err != nil {
		v.Fatal(err)
	}
	if got.StatusCode != want {
		v.Fatalf("%s %.200s %.200s: got %d %s, want %d", method, path, body, got.StatusCode, text, want)
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &answer); err != nil {
			v.Fatalf("%s %s: got %s: %v", method, path, text, err)
		}
	}
	answer.header = got.Header
	return answer
}

const someOrder = `{"customer": "ada", "lines": [{"product": "sneaker", "quantity": 2, "cents": 9900}]}`

// Orders are placed, found, paid and listed by status. A payment counts once.
func TestOrders(t *testing.T) {
	for _, c := range []config{{}, {naive: true}} {
		t.Run(fmt.Sprintf("naive %t", c.naive), func(t *testing.T) {
			v := visit(t, c, nil)
			placed := v.ask(201, "POST", "/orders", someOrder)
			at := placed.header.Get("Location")
			if got := v.ask(200, "GET", at, ""); got.ID != placed.ID || got.Status != "OPEN" {
				t.Errorf("got %+v", got)
			}
			v.ask(409, "PUT", at+"/status", `{"status": "SHIPPED"}`)
			for range 2 {
				v.ask(200, "PUT", at+"/status", `{"status": "PAID"}`)
			}
			if got := v.ask(200, "GET", "/shoppers/ada", ""); got.Cents != 19800 || got.Rank != 1 {
				t.Errorf("got %+v, want one order", got)
			}
			if got := v.ask(200, "GET", "/shoppers", "").Items; len(got) != 1 || got[0].Customer != "ada" {
				t.Errorf("got %+v", got)
			}
			if got := v.ask(200, "GET", "/orders?status=OPEN", "").Items; len(got) != 0 {
				t.Errorf("got %+v", got)
			}
			if got := v.ask(200, "GET", "/orders?status=PAID", "").Items; len(got) != 1 || got[0].Status != "PAID" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The naive way has one key for each status, day and counter, with the name that the README says.
func TestNaiveKeysAreNoShards(t *testing.T) {
	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := local.Start(t)
	v := visitor{t, start(t, &database{client: engine.Client(recorder.Option), recorder: recorder, engine: engine}, config{naive: true}), "test"}
	v.ask(200, "PUT", v.ask(201, "POST", "/orders", someOrder).header.Get("Location")+"/status", `{"status": "PAID"}`)
	v.ask(204, "POST", "/products/sneaker/likes", "")
	v.ask(204, "POST", "/products/sneaker/views", "")
	liked := false
	for _, r := range recorder.Report().Resources {
		for _, k := range r.Writes.Keys {
			liked = liked || r.Table == "naive-likes" && k.Key == "sneaker"
			if r.Table != "naive-limits" && r.Table != "naive-shoppers" && strings.Contains(k.Key, "SHARD") {
				t.Errorf("%s has key %s", r.Resource, k.Key)
			}
		}
	}
	if !liked {
		t.Error("the likes are not under the product's name")
	}
}

// All pages together are all orders, the newest first, each once. A page is of its list, and of nobody else's making.
func TestPages(t *testing.T) {
	v := visit(t, config{}, nil)
	var placed, listed []string
	for range 25 {
		placed = append(placed, v.ask(201, "POST", "/orders", someOrder).ID)
	}
	slices.Reverse(placed)
	token := ""
	for {
		page := v.ask(200, "GET", "/orders?status=OPEN&limit=7&page="+token, "")
		for _, o := range page.Items {
			listed = append(listed, o.ID)
		}
		if page.Next == "" {
			break
		}
		token = page.Next
	}
	if !slices.Equal(listed, placed) {
		t.Errorf("got %v, want %v", listed, placed)
	}
	for _, path := range []string{"/orders?status=PAID", "/shoppers", "/products/sneaker/views"} {
		if got := v.ask(200, "GET", path, ""); got.Items == nil || len(got.Items) != 0 {
			t.Errorf("%s: got %v, want an empty list", path, got.Items)
		}
	}
	for _, path := range []string{"/orders?status=PAID&page=" + token, "/orders?status=OPEN&page=x" + token[1:], "/shoppers?page=" + token} {
		if got := v.ask(400, "GET", path, "").Error; got.Code != "bad_page" {
			t.Errorf("%s: got %+v", path, got)
		}
	}
}

func TestProducts(t *testing.T) {
	for _, c := range []config{{}, {naive: true}} {
		t.Run(fmt.Sprintf("naive %t", c.naive), func(t *testing.T) {
			v := visit(t, c, nil)
			for range 3 {
				v.ask(204, "POST", "/products/sneaker/likes", "")
				v.ask(204, "POST", "/products/sneaker/views", "")
			}
			if got := v.ask(200, "GET", "/products/sneaker/likes", "").Likes; got != 3 {
				t.Errorf("got %d likes, want 3", got)
			}
			if got := v.ask(200, "GET", "/products/sneaker/views?limit=2", ""); len(got.Items) != 2 || got.Next == "" {
				t.Errorf("got %+v, want 2 views and a next page", got)
			}
			sum := 0
			for _, n := range v.ask(200, "GET", "/products/sneaker/views/days", "").Views {
				sum += n
			}
			if sum != 3 {
				t.Errorf("got %d views, want 3", sum)
			}
		})
	}
}

// Whatever is wrong with a request, the answer says it, and is no fault of the shop's.
func TestWrongRequests(t *testing.T) {
	v := visit(t, config{}, nil)
	nobody := "/orders/" + strings.Repeat("A", 26)
	for _, c := range []struct {
		status             int
		code, method, path string
		body               string
	}{
		{400, "bad_request", "POST", "/orders", ``},
		{400, "bad_request", "POST", "/orders", `{"customer":`},
		{400, "bad_request", "POST", "/orders", `[]`},
		{400, "bad_request", "POST", "/orders", someOrder + someOrder},
		{400, "bad_request", "POST", "/orders", `{"price": 3}`},
		{400, "bad_request", "POST", "/orders", `{"id": "x"}`},
		{400, "bad_request", "POST", "/orders", `{"customer": "Ada Lovelace"}`},
		{400, "bad_request", "POST", "/orders", `{"customer": "ada", "lines": []}`},
		{400, "bad_request", "POST", "/orders", `{"customer": "ada", "lines": [{"product": "x", "quantity": -1}]}`},
		{400, "bad_request", "POST", "/orders", `{"customer": "ada", "lines": [{"product": "x", "quantity": 1, "cents": -1}]}`},
		{413, "too_large", "POST", "/orders", `{"customer": "` + strings.Repeat("a", maxBody) + `"}`},
		{413, "too_large", "POST", "/orders", someOrder + strings.Repeat(" ", maxBody)},
		{404, "not_found", "GET", nobody, ``},
		{404, "not_found", "GET", "/orders/" + strings.Repeat("a", 5000), ``},
		{404, "not_found", "PUT", nobody + "/status", `{"status": "PAID"}`},
		{400, "bad_request", "PUT", nobody + "/status", `{"status": "OPEN"}`},
		{400, "bad_request", "GET", "/orders", ``},
		{400, "bad_request", "GET", "/orders?status=OPEN&limit=-1", ``},
		{400, "bad_request", "GET", "/orders?status=OPEN&limit=101", ``},
		{400, "bad_page", "GET", "/orders?status=OPEN&page=huhu", ``},
		{400, "bad_request", "POST", "/products/SNEAKER/likes", ``},
		{400, "bad_request", "GET", "/products/x%23SHARD_1/views", ``},
		{400, "bad_request", "GET", "/products/sneaker/views?day=0000-01-01", ``},
		{400, "bad_request", "GET", "/products/sneaker/views?day=tomorrow", ``},
		{404, "not_found", "GET", "/shoppers/nobody", ``},
	} {
		if got := v.ask(c.status, c.method, c.path, c.body).Error; got.Code != c.code || got.Message == "" {
			t.Errorf("%s %.100s %.100s: got %+v, want %s", c.method, c.path, c.body, got, c.code)
		}
	}
	if got := v.ask(200, "GET", "/orders?status=OPEN", "").Items; len(got) != 0 {
		t.Errorf("got orders %+v, want none", got)
	}
}

// What DynamoDB refuses is 503 with the time to wait. What nobody knows is said to be unknown, and the order can be found.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fault atomic.Value
		fault.Store(faulty.None)
		v := visit(t, config{}, func(faulty.Request) faulty.Fault { return fault.Load().(faulty.Fault) })
		v.ask(201, "POST", "/orders", someOrder) // what is read once has been read
		v.ask(204, "POST", "/products/sneaker/likes", "")

		fault.Store(faulty.Throttled)
		for _, c := range [][3]string{
			{"POST", "/orders", someOrder}, {"GET", "/orders?status=OPEN", ""}, {"POST", "/products/sneaker/views", ""}, {"GET", "/shoppers", ""},
		} {
			if got := v.ask(503, c[0], c[1], c[2]); got.Error.Code != "throttled" || got.header.Get("Retry-After") != "1" {
				t.Errorf("%v: got %+v", c, got)
			}
		}

		fault.Store(faulty.LostAnswer)
		order := v.ask(202, "POST", "/orders", someOrder)
		if order.Outcome != "unknown" || order.ID == "" {
			t.Errorf("got %+v", order)
		}
		if got := v.ask(500, "POST", "/products/sneaker/likes", "").Error; got.Code != "outcome_unknown" {
			t.Errorf("got %+v", got)
		}

		fault.Store(faulty.None)
		if got := v.ask(200, "GET", order.header.Get("Location"), ""); got.ID != order.ID {
			t.Errorf("got %+v, want the order whose answer was lost", got)
		}
		if got := v.ask(200, "GET", "/products/sneaker/likes", "").Likes; got != 2 {
			t.Errorf("got %d likes, want 2: the second was counted, once", got)
		}
	})
}

// A payment whose second write fails says that the order has moved. Putting the status again counts the order once.
func TestHalfDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var board atomic.Bool // whether the board refuses writes
		v := visit(t, config{}, func(r faulty.Request) faulty.Fault {
			if board.Load() && r.Operation == "TransactWriteItems" { // only scores are written so
				return faulty.Throttled
			}
			return faulty.None
		})
		order := v.ask(201, "POST", "/orders", someOrder)
		status := "/orders/" + order.ID + "/status"
		board.Store(true)
		got := v.ask(503, "PUT", status, `{"status": "PAID"}`)
		if got.Error.Code != "half_done" || got.header.Get("Retry-After") != "1" || !strings.Contains(got.Error.Message, "put the status again") {
			t.Errorf("got %+v", got)
		}
		if got := v.ask(200, "GET", "/orders/"+order.ID, ""); got.Status != "PAID" {
			t.Errorf("the order is %s, but its client was told that it is paid", got.Status)
		}
		board.Store(false)
		for range 2 {
			v.ask(200, "PUT", status, `{"status": "PAID"}`)
		}
		if got := v.ask(200, "GET", "/shoppers/ada", ""); got.Cents != 2*9900 {
			t.Errorf("ada has bought for %d cents, want %d", got.Cents, 2*9900)
		}
	})
}

// A payment that was not counted is counted when the order ships, once, although nobody has repeated the payment.
func TestCountedWhenShipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var board atomic.Bool // whether the board refuses writes
		v := visit(t, config{}, func(r faulty.Request) faulty.Fault {
			if board.Load() && r.Operation == "TransactWriteItems" { // only scores are written so
				return faulty.Throttled
			}
			return faulty.None
		})
		status := "/orders/" + v.ask(201, "POST", "/orders", someOrder).ID + "/status"
		board.Store(true)
		v.ask(503, "PUT", status, `{"status": "PAID"}`)
		if got := v.ask(503, "PUT", status, `{"status": "SHIPPED"}`); got.Error.Code != "half_done" {
			t.Errorf("got %+v", got)
		}
		board.Store(false)
		v.ask(409, "PUT", status, `{"status": "PAID"}`)
		for range 2 {
			v.ask(200, "PUT", status, `{"status": "SHIPPED"}`)
			if got := v.ask(200, "GET", "/shoppers/ada", ""); got.Cents != 2*9900 {
				t.Errorf("ada has bought for %d cents, want %d", got.Cents, 2*9900)
			}
		}
	})
}

// An order whose week is over is paid and shipped all the same.
func TestOldOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := visit(t, config{}, nil)
		status := "/orders/" + v.ask(201, "POST", "/orders", someOrder).ID + "/status"
		time.Sleep(6 * 7 * day)
		v.ask(200, "PUT", status, `{"status": "PAID"}`)
		v.ask(200, "PUT", status, `{"status": "SHIPPED"}`)
	})
}

// A client that asks too often is told when to come back, and others are not concerned.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := visit(t, config{limit: 3, naive: true}, nil)
		for range 3 {
			v.ask(200, "GET", "/orders?status=OPEN", "")
		}
		got := v.ask(429, "GET", "/orders?status=OPEN", "")
		if got.Error.Code != "limited" || got.header.Get("Retry-After") == "" {
			t.Errorf("got %+v", got)
		}
		v.name = "other"
		v.ask(200, "GET", "/orders?status=OPEN", "")
		v.name = ""
		v.ask(400, "GET", "/orders?status=OPEN", "")
	})
}

func TestMetricsAndPage(t *testing.T) {
	v := visit(t, config{}, nil)
	v.ask(201, "POST", "/orders", someOrder)
	v.ask(200, "GET", "/metrics", "")
	v.ask(403, "GET", "/heat/", "") // the page is for loopback alone, and this request has no address
}
