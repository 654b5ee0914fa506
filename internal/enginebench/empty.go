package main

import (
	"io"
	"net/http"
)

// emptyCommand is the argument that turns this program into the empty handler's process.
const emptyCommand = "serve-empty"

// emptyAnswer pleases every workload, so that the empty handler needs no special treatment.
const emptyAnswer = `{"TableStatus":"ACTIVE","Item":{},"Count":50,"UnprocessedItems":{}}`

// serveEmpty is the floor under every Go server: net/http reads the request, nothing thinks about it, net/http
// writes an answer.
func serveEmpty(addr string) error {
	return http.ListenAndServe(addr, http.HandlerFunc(answerEmpty))
}

func answerEmpty(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	io.WriteString(w, emptyAnswer)
}
