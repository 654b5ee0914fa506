package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// How scripts show answers. Everything ends with a newline.

func showError(e *engine.Error) string {
	var out strings.Builder
	out.WriteString(e.Type + ": " + e.Message)
	if e.Item != nil {
		out.WriteString("\nitem " + showRaw(e.Item))
	}
	for i, r := range e.Reasons {
		fmt.Fprintf(&out, "\nreason %d %s", i, r.Code)
		if r.Message != "" {
			out.WriteString(": " + r.Message)
		}
		if r.Item != nil {
			out.WriteString("\n  item " + showRaw(r.Item))
		}
	}
	return out.String()
}

func showFound(raw attr.Raw) string {
	if raw == nil {
		return "none\n"
	}
	return showRaw(raw) + "\n"
}

func showWrite(out *engine.WriteOutput) string {
	if out == nil {
		return ""
	}
	var answer strings.Builder
	if out.Attributes != nil {
		answer.WriteString(showRaw(out.Attributes) + "\n")
	}
	if out.ItemCollectionMetrics != nil {
		answer.WriteString(showCollection("", out.ItemCollectionMetrics))
	}
	answer.WriteString(showCapacity(out.ConsumedCapacity))
	return answer.String()
}

func showCollection(table string, m *engine.ItemCollectionMetrics) string {
	return fmt.Sprintf("collection %s%s between %g and %g GB\n", table, showItem(m.Key), m.LowerGB, m.UpperGB)
}

func showMetrics(metrics map[string][]*engine.ItemCollectionMetrics) string {
	var answer strings.Builder
	for _, table := range slices.Sorted(maps.Keys(metrics)) {
		for _, m := range metrics[table] {
			answer.WriteString(showCollection(table+" ", m))
		}
	}
	return answer.String()
}

func showRead(out *engine.ReadOutput) string {
	var answer strings.Builder
	for _, item := range out.Items {
		answer.WriteString(showRaw(item) + "\n")
	}
	fmt.Fprintf(&answer, "count %d of %d\n", out.Count, out.ScannedCount)
	if out.LastEvaluatedKey != nil {
		answer.WriteString("last " + showItem(out.LastEvaluatedKey) + "\n")
	}
	answer.WriteString(showCapacity(out.ConsumedCapacity))
	return answer.String()
}

func showBatchGet(out *engine.BatchGetItemOutput) string {
	var answer strings.Builder
	for _, r := range out.Responses {
		for _, item := range r.Items {
			answer.WriteString(r.TableName + " " + showRaw(item) + "\n")
		}
	}
	for _, t := range out.Unprocessed {
		for _, key := range t.Keys {
			answer.WriteString("unprocessed " + t.TableName + " " + showItem(key) + "\n")
		}
	}
	answer.WriteString(showCapacity(out.ConsumedCapacity...))
	if answer.Len() == 0 {
		return "none\n"
	}
	return answer.String()
}

func showBatchWrite(out *engine.BatchWriteItemOutput) string {
	var answer strings.Builder
	for _, t := range out.Unprocessed {
		fmt.Fprintf(&answer, "unprocessed %s %d\n", t.TableName, len(t.Writes))
	}
	return answer.String() + showMetrics(out.ItemCollectionMetrics) + showCapacity(out.ConsumedCapacity...)
}

// showCapacity writes what requests cost: the table, the units and, with INDEXES,
// what they were spent on. Transactions also say whether they were spent reading
// or writing.
func showCapacity(consumed ...*engine.ConsumedCapacity) string {
	var answer strings.Builder
	for _, c := range consumed {
		if c == nil {
			continue
		}
		answer.WriteString("capacity " + c.TableName + " " + showUnits(engine.Capacity{Units: c.Units, Read: c.Read, Write: c.Write}))
		if c.Arms {
			arms := []string{"table " + showUnits(c.Table)}
			for _, name := range slices.Sorted(maps.Keys(c.Local)) {
				arms = append(arms, "lsi "+name+" "+showUnits(c.Local[name]))
			}
			for _, name := range slices.Sorted(maps.Keys(c.Global)) {
				arms = append(arms, "gsi "+name+" "+showUnits(c.Global[name]))
			}
			answer.WriteString(" = " + strings.Join(arms, " + "))
		}
		answer.WriteString("\n")
	}
	return answer.String()
}

func showUnits(c engine.Capacity) string {
	share := func(kind string, units *float64) string {
		switch {
		case units == nil:
			return ""
		case *units != c.Units:
			return fmt.Sprintf(" %s(%g)", kind, *units)
		}
		return " " + kind
	}
	return strconv.FormatFloat(c.Units, 'f', -1, 64) + share("read", c.Read) + share("write", c.Write)
}

func showRecord(r *engine.StreamRecord) string {
	answer := fmt.Sprintf("%s %s %d bytes", r.EventName, showRaw(r.Keys), r.SizeBytes)
	if r.Expired {
		answer += " by TTL"
	}
	if r.OldImage != nil {
		answer += "\n  old " + showRaw(r.OldImage)
	}
	if r.NewImage != nil {
		answer += "\n  new " + showRaw(r.NewImage)
	}
	return answer + "\n"
}

func showTable(d *engine.TableDescription) string {
	kinds := map[string]string{}
	for _, def := range d.AttributeDefinitions {
		kinds[def.AttributeName] = def.AttributeType
	}
	keys := func(elements []engine.KeyElement) string {
		var hash, sort []string
		for _, k := range elements {
			text := k.AttributeName + ":" + kinds[k.AttributeName]
			if k.KeyType == "HASH" {
				hash = append(hash, text)
			} else {
				sort = append(sort, text)
			}
		}
		text := strings.Join(hash, " ")
		if sort != nil {
			text += " / " + strings.Join(sort, " ")
		}
		return text
	}
	var answer strings.Builder
	fmt.Fprintf(&answer, "table %s %s: %d items, %d bytes\n", d.TableName, keys(d.KeySchema), d.ItemCount, d.SizeBytes)
	indexes := func(kind string, list []engine.IndexDescription) {
		for _, x := range list {
			projection := strings.Join(append([]string{x.ProjectionType}, x.NonKey...), " ")
			fmt.Fprintf(&answer, "%s %s %s %s: %d items, %d bytes\n", kind, x.IndexName, keys(x.KeySchema), projection, x.ItemCount, x.SizeBytes)
		}
	}
	indexes("lsi", d.LocalIndexes)
	indexes("gsi", d.GlobalIndexes)
	if d.StreamViewType != "" {
		answer.WriteString("stream " + d.StreamViewType + "\n")
	}
	return answer.String()
}
