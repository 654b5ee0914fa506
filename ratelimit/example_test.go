package ratelimit_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// Three requests in any hour, for each key.
func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or a *dynamodb.Client of your own account
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	options := ratelimit.Options{Table: "limits", Limit: 3}
	if err := ratelimit.Setup(ctx, db.Client(), options); err != nil {
		log.Fatal(err)
	}
	limiter, err := ratelimit.Open(db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}
	for range 4 {
		d, err := limiter.Allow(ctx, "key-1")
		fmt.Println(d.Allowed, d.Remaining, err)
	}
	// Output:
	// true 2 <nil>
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

// A server that answers 429 to those who ask too often, and goes on answering when the table cannot be reached.
func Example_server() {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	options := ratelimit.Options{
		Table: "limits", Algorithm: ratelimit.TokenBucket, Limit: 60, Burst: 2, // one a minute, two at once
		FailOpen: true,
	}
	if err := ratelimit.Setup(context.Background(), db.Client(), options); err != nil {
		log.Fatal(err)
	}
	limiter, err := ratelimit.Open(db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := limiter.Allow(r.Context(), r.Header.Get("X-Customer"))
		if err != nil {
			log.Print(err)
		}
		if !d.Allowed {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.RetryAfter.Seconds()))))
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		fmt.Fprintln(w, "hello")
	})

	for range 3 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Customer", "c1")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Retry-After") != "")
	}
	// Output:
	// 200 false
	// 200 false
	// 429 true
}

// A hot key over ten shards, a look at it, and a second chance.
func ExampleLimiter_Peek() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	options := ratelimit.Options{Table: "limits", Limit: 1000, Shards: 10}
	if err := ratelimit.Setup(ctx, db.Client(), options); err != nil {
		log.Fatal(err)
	}
	limiter, err := ratelimit.Open(db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}

	for range 20 {
		if _, err := limiter.AllowN(ctx, "customer-1", 50); err != nil {
			log.Fatal(err)
		}
	}
	d, err := limiter.Peek(ctx, "customer-1")
	fmt.Println(d.Allowed, d.Remaining, err)
	err = limiter.Reset(ctx, "customer-1")
	fmt.Println(err)
	d, err = limiter.Peek(ctx, "customer-1")
	fmt.Println(d.Allowed, d.Remaining, err)
	// Output:
	// false 0 <nil>
	// <nil>
	// true 1000 <nil>
}
