package charter

import (
	"reflect"
	"testing"

	"github.com/heatsink-go/heatsink/internal/golden"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// The files in testdata are charters as tables hold them, in DynamoDB's JSON. Never change one: processes that ran before
// have stored them. A new version of the schema adds files, and reads the old ones or says what to do.
func TestStoredChartersStayReadable(t *testing.T) {
	golden.Check(t, "testdata", map[string]golden.Case[Charter]{
		"v1-adaptive.json": {Want: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive, Layout: layout.Layout{Format: layout.Format{BareZero: true}}, ShardBy: []string{"sk"},
			PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
		}},
		"v1-frozen.json": {Want: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive, Layout: layout.Layout{Format: layout.Format{BareZero: true}}, ShardBy: []string{"sk"},
			PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
			Frozen: Freeze{On: true, Why: "incident 7", By: "host-2/1", At: 1767323050000},
		}},
		"v1-adaptive-buckets.json": {Want: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive,
			Layout:  layout.Layout{Bucket: layout.Day, Format: layout.Format{BareZero: true}},
			Older:   []layout.Layout{{Shards: 16}},
			ShardBy: []string{"sk"}, EventTime: EventTime{"at", UnixMilliseconds}, PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
		}},
		"v1-fixed.json": {Want: full()},
		"v1-movable.json": {Want: Charter{
			Needs: []string{NeedMove}, Movable: true, Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated}, ShardBy: []string{"sk"},
			PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
		}},
		"v1-index.json": {Want: Charter{
			Widths: ByProgram, Layout: layout.Layout{Strategy: layout.Calculated}, ShardBy: []string{"id"}, PartitionKey: "id",
			Index: Index{"byStatus", "status", "seen", "shard"}, VersionAttribute: "ver",
		}},
		"v2-version.json":   {Err: ErrNewer, Says: "written by a newer version of heatsink: it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v1-need.json":      {Err: ErrNewer, Says: `it needs ["compact"], and this process knows ["ledger" "move" "moved"]: upgrade heatsink in this process`},
		"v1-attribute.json": {Err: ErrCharter, Says: `unknown attribute "_hs_mirrors": upgrade heatsink in this process if a newer version wrote it, else remove it`},
		"v1-widths.json":    {Err: ErrCharter, Says: `_hs_widths is "by the moon": want adaptive, by the program, or a number such as fixed 16`},
	}, golden.Format[Charter, ledger.Value]{Parse: Parse, Encode: Charter.Encode, Equal: func(a, b Charter) bool { return reflect.DeepEqual(a, b) }})
}
