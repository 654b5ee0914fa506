// Package dispatch takes one request from its first attempt to its outcome. It waits until the request may be sent, sends
// it, judges the response, and retries as often as the retry budget allows. The library and its recipes send all requests
// through it, so that one function decides whether a write may have happened.
package dispatch
