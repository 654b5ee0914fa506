package heat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrNoIndex is wrapped when a layout names a global index that its table does not have.
var ErrNoIndex = errors.New("no such index")

// CheckLayouts looks up a table and returns ErrNoIndex if a layout names a global index that the table does not have: such a
// layout would find nothing. It ignores layouts of other tables. ScanTable, EstimateScan, OpenStream and Recorder.Describe
// do this check themselves. It costs one DescribeTable if a layout names an index, else nothing.
func CheckLayouts(ctx context.Context, client Describer, table string, layouts ...Layout) error {
	if !slices.ContainsFunc(layouts, func(l Layout) bool { return l.Index != "" && tableName(l.Table) == tableName(table) }) {
		return nil
	}
	d, err := describe(ctx, client, table)
	if err != nil {
		return err
	}
	return checkIndexes(table, layouts, d)
}

// checkIndexes returns an error for each layout of an index that a table does not have.
func checkIndexes(table string, layouts []Layout, d *types.TableDescription) error {
	var global, local []string
	for i := range d.GlobalSecondaryIndexes {
		global = append(global, aws.ToString(d.GlobalSecondaryIndexes[i].IndexName))
	}
	for i := range d.LocalSecondaryIndexes {
		local = append(local, aws.ToString(d.LocalSecondaryIndexes[i].IndexName))
	}
	var faults []error
	for _, l := range layouts {
		if l.Index == "" || tableName(l.Table) != tableName(table) || slices.Contains(global, l.Index) {
			continue
		}
		fault := fmt.Sprintf("table %q does not have index %q", table, l.Index)
		switch {
		case slices.Contains(local, l.Index):
			fault = fmt.Sprintf("index %q of table %q is local and has the table's partition key: give the layout to the table", l.Index, table)
		case len(global) == 0:
			fault += ": it has no global index"
		default:
			slices.Sort(global)
			fault += fmt.Sprintf(": its global indexes are %s", strings.Join(global, ", "))
		}
		faults = append(faults, fmt.Errorf("layout %s: %w: %s", l, ErrNoIndex, fault))
	}
	return errors.Join(faults...)
}
