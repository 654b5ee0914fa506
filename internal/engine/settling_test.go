package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// A change shows as going on for a while, and stands in the way of others.
func TestStatusDelayOfChanges(t *testing.T) {
	const used = "Attempt to change a resource which is still in use: "
	iops := &UpdateTableInput{ProvisionedThroughput: units(7, 7)}
	stream := &UpdateTableInput{Stream: &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}}
	update := func(name string, n int64) *UpdateTableInput {
		return &UpdateTableInput{HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: &name, ProvisionedThroughput: units(n, n)}}}}
	}
	add := addInput("", "new", "z:S")
	add.IndexUpdates[0].Create.ProvisionedThroughput = units(1, 1)
	drop := (*UpdateTableInput)(nil) // the table
	encrypt := &UpdateTableInput{Encryption: &Encryption{Enabled: new(true)}}
	class := &UpdateTableInput{TableClass: new("STANDARD_INFREQUENT_ACCESS")}
	const ofClass = " Table: tab TableClassUpdateInProgress: STANDARD_INFREQUENT_ACCESS"
	const fine = ""
	for what, c := range map[string]struct {
		first  *UpdateTableInput
		states string
		next   map[*UpdateTableInput]string
	}{
		"capacity": {iops, "UPDATING idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			{ProvisionedThroughput: units(8, 8)}:    "Table IOPS are currently being updated. Table: tab",
			{BillingMode: new("PAY_PER_REQUEST")}:   "Table IOPS are currently being updated. Table: tab",
			stream:                                  "Can't enable or disable stream while table IOPS are being updated. Table: tab",
			add:                                     "Can't create or delete indexes while table IOPS are being updated. Table: tab",
			removeInput("", "idx"):                  "Can't create or delete indexes while table IOPS are being updated. Table: tab",
			update("idx", 9):                        fine,
			{DeletionProtection: new(false)}:        fine,
			{WarmThroughput: units(20_000, 20_000)}: fine,
			drop:                                    "Table: tab is in the process of being updated.",
		}},
		"stream": {stream, "UPDATING idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			iops: "Can't change table IOPS when stream status is being updated. Table: tab Stream: LABEL Operation: ENABLE",
			{Stream: &StreamSpecification{Enabled: new(false)}}: "A stream status change is currently in progress. Table: tab Stream: LABEL Operation: ENABLE",
			add:              "Can't create or delete an index when stream status is being updated. Table: tab Stream: LABEL Operation: ENABLE",
			class:            "Can't update table class when stream status is being updated. Table: tab Stream: LABEL Operation: ENABLE",
			encrypt:          fine,
			update("idx", 9): fine,
			drop:             "Cannot delete table while stream is being enabled/disabled.",
		}},
		"class": {class, "UPDATING idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			{TableClass: new("STANDARD")}:    "Can't update table class when a table class update is in progress." + ofClass,
			stream:                           "Can't change stream status when a table class update is in progress." + ofClass,
			add:                              "Can't create or delete an index when a table class update is in progress." + ofClass,
			encrypt:                          fine,
			{DeletionProtection: new(false)}: fine,
			drop:                             "Table: tab is in the process of being updated.",
		}},
		"the class that it has": {&UpdateTableInput{TableClass: new("STANDARD")}, "ACTIVE idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			stream: fine,
		}},
		"encryption": {encrypt, "ACTIVE idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			{Encryption: &Encryption{Enabled: new(false)}}: "Server-Side Encryption is still being updated",
			encrypt: fine,
			stream:  fine,
			class:   fine,
			add:     fine,
			drop:    "Table: tab is in the process of being updated.",
		}},
		"billing mode": {&UpdateTableInput{BillingMode: new("PAY_PER_REQUEST")}, "UPDATING idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			{BillingMode: new("PAY_PER_REQUEST")}: fine, // it is the table's by now
			stream:                                "Can't enable or disable stream while table IOPS are being updated. Table: tab",
		}},
		"warm throughput of an index": {&UpdateTableInput{HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: new("idx"), WarmThroughput: units(20_000, 20_000)}}}}, "ACTIVE idx=ACTIVE other=ACTIVE", map[*UpdateTableInput]string{
			update("idx", 9): fine,
			drop:             fine,
		}},
		"index": {update("idx", 8), "ACTIVE idx=UPDATING other=ACTIVE", map[*UpdateTableInput]string{
			update("idx", 9):       "Index is being updated.  Table: tab Index: idx",
			removeInput("", "idx"): "Index is being updated.  Table: tab Index: idx",
			update("other", 9):     fine,
			iops:                   fine,
			stream:                 fine,
			drop:                   "Cannot delete table while indexes are being created, updated, or deleted.",
		}},
	} {
		for next, want := range c.next {
			t.Run(what, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					e := openEngine(t, Options{StatusDelay: time.Minute})
					createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S").withGlobal("other", "b:S").provisioned(5, 5))
					time.Sleep(time.Minute)
					do := func(in *UpdateTableInput) error {
						if in == drop {
							return errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")}))
						}
						in.TableName = new("tab")
						return errorOf(e.UpdateTable(t.Context(), in))
					}
					if err := do(c.first); err != nil {
						t.Fatal(err)
					}
					wantStates(t, describeTable(t, e, "tab"), c.states)
					time.Sleep(time.Minute - 1)
					label := describeTable(t, e, "tab").LatestStreamLabel
					err := do(next)
					if want == fine {
						if err != nil {
							t.Error(err)
						}
						return
					}
					wantError(t, err, TypeResourceInUse, used+strings.ReplaceAll(want, "LABEL", label))
					time.Sleep(time.Nanosecond)
					wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=ACTIVE other=ACTIVE")
					if err := do(next); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// The maximum of a table on demand waits for changes of its stream, class and billing mode.
func TestStatusDelayOfMaximum(t *testing.T) {
	onDemand, stream := "PAY_PER_REQUEST", &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
	for _, c := range []struct {
		first *UpdateTableInput
		want  string
	}{
		{&UpdateTableInput{Stream: stream}, "stream status update is in progress"},
		{&UpdateTableInput{BillingMode: &onDemand}, "BillingMode update is in progress"},
		{
			&UpdateTableInput{TableClass: new("STANDARD_INFREQUENT_ACCESS")},
			"TableClass update is in progress. TableClassUpdateInProgress: STANDARD_INFREQUENT_ACCESS",
		},
	} {
		bubble.Test(t, func(t *testing.T) {
			e := openEngine(t, Options{StatusDelay: time.Minute})
			table := newTableInput("tab", "pk:S")
			if c.first.BillingMode != nil {
				table = table.provisioned(5, 5)
			}
			createTable(t, e, table)
			time.Sleep(time.Minute)
			do := func(in *UpdateTableInput) error {
				in.TableName = new("tab")
				return errorOf(e.UpdateTable(t.Context(), in))
			}
			if err := do(c.first); err != nil {
				t.Fatal(err)
			}
			maximum := &UpdateTableInput{OnDemandThroughput: units(9, 9)}
			wantError(t, do(maximum), TypeResourceInUse, "Attempt to change a resource which is still in use: OnDemandThroughput cannot be updated while "+c.want)
			time.Sleep(time.Minute)
			if err := do(maximum); err != nil {
				t.Error(err)
			}
		})
	}
}

// An index whose throughput changes while it is filled is still shown as being created.
func TestStatusDelayOfAnIndexBeingFilled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHalt()
		e := openEngine(t, Options{StatusDelay: time.Minute, fillBatch: 1, reached: h.reached})
		createTable(t, e, newTableInput("tab", "pk:S"))
		time.Sleep(time.Minute)
		for _, key := range []string{"a", "b"} {
			putItem(t, e, "tab", fields("pk", key, "a", "x"))
		}
		h.armed.Store(true)
		updateTable(t, e, addInput("tab", "idx", "a:S"))
		<-h.halted
		updateTable(t, e, &UpdateTableInput{TableName: new("tab"), HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: new("idx"), OnDemandThroughput: units(5, 5)}}}})
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=CREATING/true")
		close(h.released)
		synctest.Wait()
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=UPDATING")
	})
}

// A deleted table is DELETING for a while, in which its name is taken.
func TestStatusDelayOfDeletion(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{StatusDelay: 5 * time.Second})
		createTable(t, e, newTableInput("tab", "pk:S"))
		time.Sleep(5 * time.Second)
		putItem(t, e, "tab", fields("pk", "p"))
		arn := createBackup(t, e, "tab")
		deleteTable(t, e, "tab")
		const deleted = "Attempt to change a resource which is still in use: Table is being deleted: tab"
		list := func() []string {
			out, err := e.ListTables(t.Context(), &ListTablesInput{})
			if err != nil {
				t.Fatal(err)
			}
			return out.TableNames
		}
		time.Sleep(5*time.Second - 1)
		wantStates(t, describeTable(t, e, "tab"), "DELETING")
		wantError(t, errorOf(e.GetItem(t.Context(), &GetItemInput{TableName: new("tab"), Key: fields("pk", "p"), HasKey: true})), TypeResourceNotFound, "Requested resource not found")
		wantError(t, errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")})), TypeResourceInUse, deleted)
		wantError(t, errorOf(e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("tab"), DeletionProtection: new(true)})), TypeResourceInUse, deleted)
		wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("tab", "pk:S"))), TypeResourceInUse, "Table already exists: tab")
		wantError(t, errorOf(e.DescribeTimeToLive(t.Context(), &TableInput{TableName: new("tab")})), TypeValidation,
			"Cannot describe time to live while table is in DELETING state: Current table state is DELETING")
		wantError(t, restoreBackup(e, arn, "tab"), TypeTableExists, "Table already exists: tab")
		if got := list(); !slices.Equal(got, []string{"tab"}) {
			t.Errorf("got tables %v, want tab", got)
		}
		time.Sleep(time.Nanosecond)
		wantError(t, errorOf(e.DescribeTable(t.Context(), &TableInput{TableName: new("tab")})), TypeResourceNotFound, "Requested resource not found: Table: tab not found")
		wantError(t, errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")})), TypeResourceNotFound, "Requested resource not found: Table: tab not found")
		if got := list(); len(got) != 0 {
			t.Errorf("got tables %v, want none", got)
		}
		createTable(t, e, newTableInput("tab", "pk:S"))
		time.Sleep(5 * time.Second)
		if hasItem(t, e, "tab", fields("pk", "p")) {
			t.Error("a new table has an item of the old one")
		}
		deleteTable(t, e, "tab")
		time.Sleep(time.Minute)
		createTable(t, e, newTableInput("other", "pk:S"))
		time.Sleep(time.Minute)
		deleteTable(t, e, "other")
		if n := len(e.graves); n != 1 {
			t.Errorf("%d deleted tables are remembered, want 1", n)
		}
	})
}
