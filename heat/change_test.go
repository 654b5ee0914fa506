package heat_test

import (
	"fmt"
	"strings"
	"testing"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// record is a record about a key, with images that have these marks; nil: there is no such image.
func record(event streamtypes.OperationType, key string, before, after []string) streamtypes.Record {
	text := func(s string) streamtypes.AttributeValue { return &streamtypes.AttributeValueMemberS{Value: s} }
	image := func(marks []string) map[string]streamtypes.AttributeValue {
		if marks == nil {
			return nil
		}
		item := map[string]streamtypes.AttributeValue{"pk": text(key)}
		for _, m := range marks {
			item[m] = text("x")
		}
		return item
	}
	return streamtypes.Record{EventName: event, Dynamodb: &streamtypes.StreamRecord{
		Keys: map[string]streamtypes.AttributeValue{"pk": text(key), "sk": text("s")}, OldImage: image(before), NewImage: image(after),
	}}
}

// The rows of the table in docs/moving.md, and records of streams that lack images.
func TestChangeKinds(t *testing.T) {
	const insert, modify, remove = streamtypes.OperationTypeInsert, streamtypes.OperationTypeModify, streamtypes.OperationTypeRemove
	item, none := []string{"a"}, []string(nil)
	for _, test := range []struct {
		event         streamtypes.OperationType
		before, after []string
		want          heat.ChangeKind
		uncertain     bool
	}{
		{insert, none, item, heat.Inserted, false},
		{modify, item, item, heat.Modified, false},
		{remove, item, none, heat.Removed, false},
		{modify, item, []string{"_hs_f"}, heat.Moved, false},
		{insert, none, []string{"_hs_f"}, heat.Moved, false},
		{modify, []string{"_hs_f"}, item, heat.Moved, false},
		{remove, []string{"_hs_f"}, none, heat.Moved, false},
		{insert, none, []string{"_hs_m"}, heat.Moved, false},
		{modify, item, []string{"_hs_m"}, heat.Modified, false},
		{modify, []string{"_hs_m"}, []string{"_hs_m", "a"}, heat.Modified, false},
		{remove, []string{"_hs_d"}, none, heat.Moved, false},
		{modify, []string{"_hs_d"}, item, heat.Inserted, false},
		{modify, item, []string{"_hs_d"}, heat.Removed, false},
		{modify, []string{"_hs_d"}, []string{"_hs_d"}, heat.Moved, false},
		{insert, none, []string{"_hs_d"}, heat.Moved, false},

		{insert, none, none, heat.Inserted, true},
		{modify, none, none, heat.Modified, true},
		{remove, none, none, heat.Removed, true},
		{modify, none, item, heat.Modified, true},
		{modify, item, none, heat.Modified, true},
		{modify, none, []string{"_hs_f"}, heat.Moved, false},
	} {
		got, err := heat.ChangeOf(record(test.event, "a", test.before, test.after), "pk")
		if err != nil || got.Kind != test.want || got.Uncertain != test.uncertain || got.Kind.Data() != (test.want != heat.Moved) {
			t.Errorf("%s %q %q: got %+v, %v, want %s", test.event, test.before, test.after, got, err, test.want)
		}
	}
}

// An image that is empty is none, as a program may have made the record.
func TestChangeWithEmptyImages(t *testing.T) {
	empty := map[string]streamtypes.AttributeValue{}
	inserted := record(streamtypes.OperationTypeInsert, "a", nil, []string{"a"})
	inserted.Dynamodb.OldImage = empty
	removed := record(streamtypes.OperationTypeRemove, "a", []string{"a"}, nil)
	removed.Dynamodb.NewImage = empty
	for want, r := range map[heat.ChangeKind]streamtypes.Record{heat.Inserted: inserted, heat.Removed: removed} {
		if got, err := heat.ChangeOf(r, "pk"); err != nil || got.Kind != want || got.Uncertain {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
	}
}

func TestChangeKeys(t *testing.T) {
	day := heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}}
	bare := heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}
	for _, test := range []struct {
		key     string
		layouts []heat.Layout
		want    string
	}{
		{"PAGE#1#SHARD_3", nil, "PAGE#1 3 insert"},
		{"PAGE#1#SHARD#3", nil, "PAGE#1 3 insert"},
		{"PAGE#1", nil, "PAGE#1 -1 insert"},
		{"user-12345#3", nil, "user-12345#3 -1 insert"},
		{"user-12345#3", []heat.Layout{{Layout: layout.Layout{Shards: 5, Format: layout.PlainNumber()}}}, "user-12345 3 insert"},
		{"2014-07-09.1", []heat.Layout{{Layout: layout.Layout{Shards: 200, Format: layout.DotFromOne()}}}, "2014-07-09 0 insert"},
		{"user-1#2024-01-15#SHARD_2", []heat.Layout{day}, "user-1 2 insert"},
		{"user-1#SHARD_2", []heat.Layout{day}, "user-1#SHARD_2 -1 insert"},
		{"user-1", []heat.Layout{bare}, "user-1 0 insert"},
		{"_hs#L#orders##PAGE#SHARD_3", nil, "_hs#L#orders##PAGE#SHARD_3 -1 control"},
	} {
		got, err := heat.ChangeOf(record(streamtypes.OperationTypeInsert, test.key, nil, []string{"a"}), "pk", test.layouts...)
		if text := fmt.Sprintf("%s %d %s", got.Key, got.Shard, got.Kind); err != nil || text != test.want || got.StoredKey != test.key {
			t.Errorf("%s: got %s (%s), %v, want %s", test.key, text, got.StoredKey, err, test.want)
		}
	}
	numbered := record(streamtypes.OperationTypeInsert, "", nil, []string{"a"})
	numbered.Dynamodb.Keys["pk"] = &streamtypes.AttributeValueMemberN{Value: "12"}
	if got, err := heat.ChangeOf(numbered, "pk"); err != nil || got.Key != "12" || got.Shard != -1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestChangeOfWhatIsWrong(t *testing.T) {
	fine := record(streamtypes.OperationTypeInsert, "a", nil, []string{"a"})
	odd := record(streamtypes.OperationTypeInsert, "a", nil, []string{"a"})
	odd.Dynamodb.Keys["pk"] = &streamtypes.AttributeValueMemberBOOL{Value: true}
	for name, test := range map[string]struct {
		record  streamtypes.Record
		key     string
		layouts []heat.Layout
		want    string
	}{
		"no data":   {streamtypes.Record{}, "pk", nil, "the record has no data"},
		"key":       {fine, "id", nil, `the record has no key "id", but ["pk" "sk"]`},
		"a boolean": {odd, "pk", nil, "want a string, a number or bytes"},
		"layout":    {fine, "pk", []heat.Layout{{}}, "Shards"},
	} {
		if _, err := heat.ChangeOf(test.record, test.key, test.layouts...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// The kinds are words that programs compare with, and log.
func TestKindsOfChanges(t *testing.T) {
	for kind, want := range map[heat.ChangeKind]struct {
		text string
		data bool
	}{
		heat.Inserted: {"insert", true}, heat.Modified: {"modify", true}, heat.Removed: {"remove", true}, heat.Moved: {"move", false}, heat.Internal: {"control", false},
	} {
		if string(kind) != want.text || kind.Data() != want.data {
			t.Errorf("got %q, data %v, want %q, %v", kind, kind.Data(), want.text, want.data)
		}
	}
}
