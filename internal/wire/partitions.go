package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// PartitionsPath is where a server with physics tells what its partitions do.
const PartitionsPath = "/partitions"

// NewPartitionsHandler answers GET /partitions?table=NAME&last=5m with the
// partitions of a table, or of all, as JSON. It asks for no credentials.
func NewPartitionsHandler(e *engine.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "GET only", http.StatusMethodNotAllowed)
			return
		}
		last := time.Minute
		if text := r.FormValue("last"); text != "" {
			var err error
			if last, err = time.ParseDuration(text); err != nil || last <= 0 {
				http.Error(w, "last: want a duration such as 5m, not "+text, http.StatusBadRequest)
				return
			}
		}
		asked := r.FormValue("table")
		names := []string{asked}
		if asked == "" {
			names = e.TableNames()
		}
		heat := []partitions.Heat{}
		for _, name := range names {
			list, err := e.Heat(r.Context(), name, last)
			if answer := new(engine.Error); errors.As(err, &answer) && answer.Type == engine.TypeResourceNotFound {
				if asked != "" {
					http.Error(w, asked+": "+err.Error(), http.StatusNotFound)
					return
				}
				continue // deleted since it was listed
			}
			if err != nil {
				http.Error(w, name+": "+err.Error(), http.StatusInternalServerError)
				return
			}
			heat = append(heat, list...)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(heat) // the client is gone if this fails
	})
}
