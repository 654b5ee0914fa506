package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
)

// collection is one that has a charter in the table.
type collection struct {
	name    string
	control *adapt.Control
	charter charter.Charter
	passage *passage.Record // nil unless the collection is movable and its record was read
}

// adaptive reports whether keys have ledgers.
func (c *collection) adaptive() bool { return c.charter.Widths == charter.Adaptive }

// records reads the charters of the table, and where items of movable collections are.
func (v *visit) records(ctx context.Context) {
	if v.table == nil {
		v.result("record", Unknown, seePermissions, needsDescribe)
		return
	}
	hash, _ := v.keyNames()
	if kind := v.typeOf(hash); v.options.ControlTable == "" && kind != types.ScalarAttributeTypeS {
		v.result("record", OK, "", "the partition key %s is of type %s, so that control items need a table of their own: give --control-table if there is one", hash, kind)
		return
	}
	names := []string{v.options.Name}
	if v.options.Name == "" {
		names = []string{"table"}
		for _, index := range v.table.GlobalSecondaryIndexes {
			names = append(names, aws.ToString(index.IndexName))
		}
	}
	for _, name := range names {
		if !v.record(ctx, name) {
			return
		}
	}
	if len(v.collections) > 0 || v.has("record") {
		return
	}
	v.result("record", OK, "", "no collection is recorded as %s: nothing stops programs whose layouts differ. Options.Recorded does; --name and --control-table name other records",
		strings.Join(names, " or "))
}

// record reads the charter of one name. It returns false if there is no use in asking for another.
func (v *visit) record(ctx context.Context, name string) bool {
	limit, cancel := limited(ctx)
	defer cancel()
	c := &collection{name: name, control: v.control(name)}
	read, stored, err := c.control.Charter(limit)
	v.access.note("GetItem", v.resource(), readFault(err, stored))
	show := fmt.Sprintf("heatsink ledger charter --table %s --name %s%s", v.options.Table, name, v.controlFlags())
	switch f := faultOf(err); {
	case err == nil && !stored:
		return true
	case f == denied && !stored:
		v.result("record", Unknown, seePermissions, "not checked: this needs dynamodb:GetItem")
		return false
	case isMissing(err):
		v.result("record", Problem, "check --control-table and Options.ControlTable", "there is no control table %s", c.control.Table)
		return false
	case err != nil && !stored:
		if f == throttled {
			v.throttled = err
		}
		v.result("record", Unknown, "try again", "the charter %s cannot be read: %s", name, oneLine(err))
		return false
	case errors.Is(err, charter.ErrNewer):
		v.result("record", Problem, "install the version of heatsink that the programs have", "charter %s: %s", name, oneLine(err))
		return true
	case err != nil:
		v.result("record", Problem, show+" --from FILE --force, as heatsink ledger charter --help explains", "the charter %s is damaged: all programs of the collection are refused: %s", name, oneLine(err))
		return true
	}
	c.charter = read
	v.collections = append(v.collections, c)
	text := fmt.Sprintf("collection %s: %s", name, layoutText(read))
	if read.Frozen.On {
		text += "; its keys are frozen"
	}
	v.result("record", OK, "", "%s", text)
	if read.Movable {
		v.readPassage(limit, c)
	}
	return true
}

// readFault is the error of a request, without faults of what was read.
func readFault(err error, stored bool) error {
	if stored {
		return nil
	}
	return err
}

func layoutText(c charter.Charter) string {
	switch c.Widths {
	case charter.Adaptive:
		return fmt.Sprintf("adaptive, %s: %s", c.Layout.Strategy, c.Layout.WithShards(1).Template())
	case charter.ByProgram:
		return fmt.Sprintf("widths by the program, %s: %s", c.Layout.Strategy, c.Layout.WithShards(1).Template())
	}
	return c.Layout.String()
}

// control returns the control items of a collection.
func (v *visit) control(name string) *adapt.Control {
	retry := dispatch.Retry{Attempts: 3}
	c := &adapt.Control{
		Client: v.client, Table: v.options.Table, Collection: name, Reads: dispatch.New(retry, nil, nil), Writes: dispatch.New(retry, nil, nil),
	}
	c.PartitionKey, c.SortKey = v.keyNames()
	if v.options.ControlTable != "" {
		c.Table, c.PartitionKey, c.SortKey = v.options.ControlTable, adapt.TableKey, ""
	}
	return c
}

// resting is how long a move may be in a stage before that is worth a word. Stages wait for an hour, and passes over large tables
// take days.
const resting = 7 * 24 * time.Hour

// readPassage reads where the items of a movable collection are.
func (v *visit) readPassage(ctx context.Context, c *collection) {
	stage := fmt.Sprintf("heatsink move %s --name %s --stage%s", v.options.Table, c.name, v.controlFlags())
	values, stored, err := c.control.Read(ctx, layout.ControlKey{Role: layout.RolePassage})
	switch {
	case err == nil && !stored && c.charter.Moved:
		v.result("record", Problem, "stop the programs, and restore the control item "+layout.ControlKey{Role: layout.RolePassage, Collection: c.name}.String()+" from a backup",
			"collection %s: items have moved, but the record of where they are is lost: all programs are refused", c.name)
		return
	case err == nil && !stored:
		v.result("record", OK, "", "collection %s: it is movable, and no program has written yet where its items are", c.name)
		return
	case err != nil && !stored:
		v.result("record", Unknown, "try again", "collection %s: the record of where items are cannot be read: %s", c.name, oneLine(err))
		return
	}
	var r passage.Record
	if err == nil {
		r, err = passage.Parse(values)
	}
	switch age := time.Since(time.UnixMilli(r.At)); {
	case err != nil:
		v.result("record", Problem, "stop the programs, and restore the control item "+layout.ControlKey{Role: layout.RolePassage, Collection: c.name}.String()+" from a backup, or install the version of heatsink that wrote it",
			"collection %s: the record of where items are cannot be used: %s", c.name, oneLine(err))
		return
	case r.Seat != passage.Here:
		v.result("record", OK, "", "collection %s: the record of where items are is in table %s: examine that one", c.name, r.Now.Table)
	case age < -tolerance:
		v.result("record", Warning, stage+"; synchronize the clocks of all machines", "collection %s: its stage begins at %s, which is in the future", c.name, time.UnixMilli(r.At).UTC().Format(time.RFC3339))
	case r.Moving() && age > resting:
		v.result("record", Warning, "go on with heatsink move, or back: "+stage, "collection %s: a move from %s to %s has rested for %.0f days", c.name, r.Now, r.Next, age.Hours()/24)
	case r.Moving():
		v.result("record", OK, "", "collection %s: items move from %s to %s; %s shows how far", c.name, r.Now, r.Next, stage)
	default:
		v.result("record", OK, "", "collection %s: items are settled, %s", c.name, r.Now)
	}
	c.passage = &r
}
