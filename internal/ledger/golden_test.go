package ledger

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/golden"
	"github.com/heatsink-go/heatsink/layout"
)

// The files in testdata are records as tables hold them, in DynamoDB's JSON. Never change one: processes that ran before
// have stored them. A new version of the schema adds files, and reads the old ones or says what to do.
func TestStoredRecordsStayReadable(t *testing.T) {
	large := largest()
	large.Why, large.By = "hot", "host"
	golden.Check(t, "testdata", map[string]golden.Case[Record]{
		"v1-first.json": {Want: Record{
			Generation: 1, Read: 2, Write: 2, State: Active, Why: "throttled 120 times in 5s", By: "host-1/4711", At: 1767323045000, History: []Past{{0, 1, 1}},
		}},
		"v1-grown.json":     {Want: grown()},
		"v1-largest.json":   {Want: large},
		"v1-no-reason.json": {Want: Record{Generation: 1, Read: 1, Write: 1, State: Active, Strategy: layout.Calculated, Hash: layout.CRC32}},
		"v2-version.json":   {Err: ErrNewer, Says: "it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v2-states.json":    {Err: ErrNewer, Says: "it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v1-attribute.json": {Err: ErrRecord, Says: `unknown attribute "_hs_k": upgrade heatsink in this process if a newer version wrote it, else remove it`},
		"v1-state.json":     {Err: ErrRecord, Says: `state "D": this version knows "A" only: upgrade heatsink in this process if a newer version wrote it`},
	}, golden.Format[Record, Value]{Parse: Parse, Encode: Record.Encode, Equal: Record.Equal})
}
