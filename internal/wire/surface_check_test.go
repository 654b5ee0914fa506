package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// shownItem is an item of an answer: its attributes as JSON.
type shownItem map[string]json.RawMessage

func (i shownItem) text() string {
	text, _ := json.Marshal(i)
	return string(text)
}

// part returns some attributes of the item, and whether it has them all.
func (i shownItem) part(names []string) (part shownItem, all bool) {
	part = shownItem{}
	for _, name := range names {
		value, ok := i[name]
		if !ok {
			return part, false
		}
		part[name] = value
	}
	return part, true
}

// surfaceTable is what the checks need of a table's description.
type surfaceTable struct {
	TableName            string
	AttributeDefinitions []struct{ AttributeName, AttributeType string }
	KeySchema            keyNames
	LatestStreamArn      string
	StreamSpecification  *struct{ StreamViewType string }

	GlobalSecondaryIndexes, LocalSecondaryIndexes []surfaceIndex
}

type surfaceIndex struct {
	IndexName, IndexStatus string
	KeySchema              keyNames
	Projection             struct{ ProjectionType string }
}

type keyNames []struct{ AttributeName string }

func (k keyNames) names() (names []string) {
	for _, part := range k {
		names = append(names, part.AttributeName)
	}
	return names
}

// checkTables checks that what is stored agrees: items are found under their
// keys, indexes list what they should, and the stream has every change.
func (s *surface) checkTables() {
	s.Helper()
	var tables struct{ TableNames []string }
	s.must("ListTables", `{}`, &tables)
	for _, name := range tables.TableNames {
		var about struct{ Table surfaceTable }
		s.must("DescribeTable", fmt.Sprintf(`{"TableName":%q}`, name), &about)
		t := &about.Table
		items := s.scan(name, "")
		s.checkKeys(t, items)
		for _, x := range append(t.GlobalSecondaryIndexes, t.LocalSecondaryIndexes...) {
			if x.IndexStatus == "" || x.IndexStatus == "ACTIVE" { // local ones have none
				s.checkIndex(t, &x, items)
			}
		}
		s.checkStream(t, items)
	}
}

// must asks what has to succeed.
func (s *surface) must(operation, body string, answer any) {
	s.Helper()
	service := dynamoDB
	if operations[service+operation] == nil {
		service = streams
	}
	status, text := s.send(service+operation, body)
	if status != http.StatusOK {
		s.Fatalf("%s %s: %d %s", operation, body, status, text)
	}
	if err := json.Unmarshal([]byte(text), answer); err != nil {
		s.Fatal(err)
	}
}

// scan returns all items of a table or an index.
func (s *surface) scan(table, index string) (items []shownItem) {
	s.Helper()
	for start := json.RawMessage(nil); ; {
		request := map[string]any{"TableName": table, "Limit": 20}
		if index != "" {
			request["IndexName"] = index
		} else {
			request["ConsistentRead"] = true
		}
		if start != nil {
			request["ExclusiveStartKey"] = start
		}
		body, _ := json.Marshal(request)
		var page struct {
			Items            []shownItem
			LastEvaluatedKey json.RawMessage
		}
		s.must("Scan", string(body), &page)
		items = append(items, page.Items...)
		if start = page.LastEvaluatedKey; start == nil {
			return items
		}
	}
}

func (s *surface) checkKeys(t *surfaceTable, items []shownItem) {
	s.Helper()
	seen := map[string]bool{}
	for _, i := range items {
		key, whole := i.part(t.KeySchema.names())
		if !whole || seen[key.text()] {
			s.Fatalf("table %s: a Scan returns %s without its key, or twice", t.TableName, i.text())
		}
		seen[key.text()] = true
		var got struct{ Item shownItem }
		s.must("GetItem", fmt.Sprintf(`{"TableName":%q,"ConsistentRead":true,"Key":%s}`, t.TableName, key.text()), &got)
		if got.Item.text() != i.text() {
			s.Fatalf("table %s: a Scan returns %s and a GetItem %s", t.TableName, i.text(), got.Item.text())
		}
	}
}

func (s *surface) checkIndex(t *surfaceTable, x *surfaceIndex, items []shownItem) {
	s.Helper()
	types := map[string]string{}
	for _, d := range t.AttributeDefinitions {
		types[d.AttributeName] = d.AttributeType
	}
	var want []string
	for _, i := range items {
		key, listed := i.part(x.KeySchema.names())
		for name, value := range key {
			listed = listed && strings.HasPrefix(string(value), `{"`+types[name]+`"`)
		}
		if listed {
			want = append(want, x.shown(t, i))
		}
	}
	var got []string
	for _, i := range s.scan(t.TableName, x.IndexName) {
		got = append(got, x.shown(t, i))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Fatalf("table %s, index %s: got %s, want %s", t.TableName, x.IndexName, got, want)
	}
}

// shown returns what both the table and the index have of an item.
func (x *surfaceIndex) shown(t *surfaceTable, i shownItem) string {
	if x.Projection.ProjectionType == "ALL" {
		return i.text()
	}
	part, _ := i.part(append(t.KeySchema.names(), x.KeySchema.names()...))
	return part.text()
}

// checkStream checks that the records of a stream lead to the items. A table whose
// stream began later has items without records.
func (s *surface) checkStream(t *surfaceTable, items []shownItem) {
	s.Helper()
	if t.StreamSpecification == nil || t.StreamSpecification.StreamViewType != "NEW_AND_OLD_IMAGES" || t.LatestStreamArn != s.whole {
		return
	}
	var about struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	s.must("DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, t.LatestStreamArn), &about)
	state := map[string]string{}
	for _, shard := range about.StreamDescription.Shards {
		var at struct{ ShardIterator string }
		s.must("GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, t.LatestStreamArn, shard.ShardId), &at)
		for iterator := at.ShardIterator; iterator != ""; {
			var page struct {
				Records []struct {
					Dynamodb struct{ Keys, OldImage, NewImage shownItem }
				}
				NextShardIterator string
			}
			s.must("GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, iterator), &page)
			for _, r := range page.Records {
				change, key := r.Dynamodb, r.Dynamodb.Keys.text()
				if before := state[key]; change.OldImage != nil && before != change.OldImage.text() || change.OldImage == nil && before != "" {
					s.Fatalf("table %s: the stream says that %s was %s, before it said %s", t.TableName, key, change.OldImage.text(), before)
				}
				if delete(state, key); change.NewImage != nil {
					state[key] = change.NewImage.text()
				}
			}
			if iterator = page.NextShardIterator; len(page.Records) == 0 {
				break
			}
		}
	}
	var want []string
	for _, i := range items {
		want = append(want, i.text())
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Values(state)); !slices.Equal(got, want) {
		s.Fatalf("table %s: its stream leads to %s, a Scan returns %s", t.TableName, got, want)
	}
}
