package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	stdout, stderr, code := command(t, "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	for _, want := range []string{
		`table "page-views" created`,
		"5000 items written",
		"5000 items read, in order",
		"5000 items counted through the index",
		"5000 records read from the stream",
		"Everything written was read back",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
}

func TestDemoJSON(t *testing.T) {
	stdout, stderr, code := command(t, "demo", "--json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	var got demoReport
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if got.StartMillis <= 0 || got.WritesPerSecond <= 0 || got.ReadUnits <= 0 {
		t.Errorf("figures are missing from %s", stdout)
	}
	want := demoReport{
		Written: demoItems, Read: demoItems, FromIndex: demoItems, StreamRecords: demoItems,
		WriteUnits: 2 * demoItems, Pages: got.Pages,
		StartMillis: got.StartMillis, WritesPerSecond: got.WritesPerSecond, ReadUnits: got.ReadUnits,
		Heat: got.Heat,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(got.Heat) != 2 || got.Heat[0].Refused == 0 || got.Heat[1].Refused != 0 || got.Heat[0].Reason != "TableWriteKeyRangeThroughputExceeded" {
		t.Errorf("got %+v, want one key refused and many not", got.Heat)
	}
}
