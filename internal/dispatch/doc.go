// Package dispatch takes one request from its first attempt to its outcome: it waits for the request's turn, sends it,
// judges the answer, and sends it again as often as the retry budget allows. The library and its recipes send everything
// through it, because only one judge can decide whether a write may have happened.
package dispatch
