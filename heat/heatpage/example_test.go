package heatpage_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
)

// A service that counts its calls serves the page below a path of its own.
func Example() {
	recorder, err := heat.NewRecorder(heat.Options{Top: 500})
	if err != nil {
		panic(err)
	}
	page, err := heatpage.New(heatpage.Options{Title: "orders", Source: heatpage.Of(recorder)})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { page.Run(ctx) })
	mux := http.NewServeMux()
	mux.Handle("/heat/", http.StripPrefix("/heat", page))
	server := httptest.NewServer(mux)

	answer, err := http.Get(server.URL + "/heat/")
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
	fmt.Println(answer.StatusCode, answer.Header.Get("Content-Type"))
	cancel()
	running.Wait()
	server.Close()
	// Output: 200 text/html; charset=utf-8
}
