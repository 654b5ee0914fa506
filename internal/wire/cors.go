package wire

import "net/http"

// corsExposed are the headers of answers that pages may read: what SDKs look at.
const corsExposed = "date, smithy-protocol, x-amz-crc32, x-amzn-errortype, x-amzn-requestid"

// corsAge is how many seconds a browser remembers that it may ask: as many as it
// will at most, in Chrome.
const corsAge = "7200"

// grant tells a browser that a page of an allowed origin may read the answer. Its
// own pages need no permission.
func (o *origins) grant(h http.Header, origin string) {
	switch {
	case o.any && origin != "":
		h.Set("Access-Control-Allow-Origin", "*")
	case o.named[origin]:
		h.Set("Access-Control-Allow-Origin", origin)
	}
	if !o.any && len(o.named) > 0 {
		h.Add("Vary", "Origin")
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Expose-Headers", corsExposed)
	}
}

// preflight answers a browser that asks beforehand what a page may send, and
// reports whether the request is such a question, of a page that grant knows. Any header may be sent: the
// SDKs' differ from version to version, and none of them matters.
func preflight(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" || h.Get("Access-Control-Allow-Origin") == "" {
		return false
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", corsAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}
