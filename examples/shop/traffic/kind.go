package traffic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// kind is a kind of request.
type kind struct {
	name    string
	rate    float64 // a second
	request func(*sale) (method, path, body string)
	learn   func(s *sale, body []byte) // from an answer
}

// kinds are what people do in a sale.
var kinds = []kind{
	{name: "place an order", rate: 400, request: placeOrder, learn: learnOrder},
	{name: "pay an order", rate: 300, request: payOrder},
	{name: "list open orders", rate: 20, request: func(*sale) (string, string, string) {
		return http.MethodGet, "/orders?status=OPEN", ""
	}},
	{name: "like a product", rate: 1500, request: func(*sale) (string, string, string) {
		return http.MethodPost, "/products/" + product() + "/likes", ""
	}},
	{name: "view a product", rate: 750, request: func(*sale) (string, string, string) {
		return http.MethodPost, "/products/" + product() + "/views", ""
	}},
}

// product returns the one in the sale, nine times of ten.
func product() string {
	if rand.IntN(10) > 0 {
		return "sneaker"
	}
	return fmt.Sprintf("product-%d", rand.IntN(1000))
}

// note makes an order as large as orders are: about two kilobytes.
var note = strings.Repeat("Please wrap it as a gift. ", 50)

// campaign is where people come from. A view with it takes two write units.
var campaign = "https://ads.example/?campaign=" + strings.Repeat("sneaker-week-", 90)

func placeOrder(*sale) (method, path, body string) {
	return http.MethodPost, "/orders", fmt.Sprintf(`{"customer": "customer-%d", "note": %q, "lines": [{"product": %q, "quantity": 1, "cents": %d}]}`,
		rand.IntN(5000), note, product(), 1000+rand.IntN(9000))
}

func learnOrder(s *sale, body []byte) {
	var order struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(body, &order) != nil || order.ID == "" {
		return
	}
	select {
	case s.orders <- order.ID:
	default: // more than will be paid
	}
}

func payOrder(s *sale) (method, path, body string) {
	select {
	case id := <-s.orders:
		return http.MethodPut, "/orders/" + id + "/status", `{"status": "PAID"}`
	default:
		return "", "", ""
	}
}
