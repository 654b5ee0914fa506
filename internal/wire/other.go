package wire

import "net/http"

// bounded makes a handler of a server's second lane wait for room, for whatever
// it does besides operations, which wait for themselves.
func (s *Server) bounded(rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := r.Context().Value(linkKey{}).(*link)
		defer k.release()
		if isRoot(r) && !IsCloudWatch(r) {
			rest.ServeHTTP(w, r)
			return
		}
		if err := k.work.take(r.Context(), &s.budget.other, otherWeight, noLimit); err != nil {
			http.Error(w, errBusy.Message, http.StatusServiceUnavailable)
			return
		}
		k.work.await()
		rest.ServeHTTP(&moving{w, &k.work}, r)
	})
}

// moving is an answer whose client is watched.
type moving struct {
	http.ResponseWriter
	claim *claim
}

func (m *moving) Write(p []byte) (int, error) {
	n, err := m.ResponseWriter.Write(p)
	m.claim.move(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (m *moving) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// FlushError is called for an answer that goes on for as long as its client follows it. What such an answer holds is little.
func (m *moving) FlushError() error {
	m.claim.shrink(followedWeight)
	return http.NewResponseController(m.ResponseWriter).Flush()
}
