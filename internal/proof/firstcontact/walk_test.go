package main

import (
	"slices"
	"testing"
)

func TestReadTests(t *testing.T) {
	const out = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA/b","Output":"    a_test.go:1: step: 12.5 s, line 50: go run ./orders\n"}
{"Action":"output","Package":"p","Test":"TestA/b","Output":"    a_test.go:2: the machine was too busy to judge the loads: true\n"}
{"Action":"pass","Package":"p","Test":"TestA/b","Elapsed":13}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":13.5}
`
	var got tested
	if err := got.read([]byte(out + `{"Action":"pass","Package":"p","Elapsed":14}`)); err != nil {
		t.Fatal(err)
	}
	if want := []step{{"line 50: go run ./orders", 12.5}}; !slices.Equal(got.steps, want) || !got.busy || got.took != 14 || len(got.failed) > 0 {
		t.Errorf("got %+v, want the steps %v, a busy machine and 14 s", got, want)
	}
	if want := []step{{"TestA", 13.5}}; !slices.Equal(got.tests, want) {
		t.Errorf("got %v, want %v", got.tests, want)
	}
	got = tested{}
	if err := got.read([]byte(`{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}`)); err != nil || !slices.Equal(got.failed, []string{"TestA"}) {
		t.Errorf("got %v, %v, want that TestA failed", got.failed, err)
	}
	if err := got.read([]byte("it does not compile\n")); err == nil {
		t.Error("got no error of an output that is no JSON")
	}
}

func TestSoldIn(t *testing.T) {
	const table = `   1 s   done  1972   throttled   854   limited     0   failed     0   unsent     0

| | done/s | throttled/s | limited/s | failed/s | unsent/s | p50 | p99 |
|---|---|---|---|---|---|---|---|
| place an order | 215 | 186 | 0 | 0 | 1 | 15ms | 160ms |
| pay an order | 146 | 67 | 0 | 2 | 0 | 12ms | 186ms |
`
	got, err := soldIn(table)
	if want := (sold{done: 361, throttled: 253, failed: 2, unsent: 1}); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := soldIn("no shop answers\n"); err == nil {
		t.Error("got no error without a table")
	}
}
