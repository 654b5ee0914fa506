package heat

import (
	"reflect"
	"testing"
)

// What varies in keys of a shape, and what stands for a shard.
func TestShapesThatVary(t *testing.T) {
	for shape, want := range map[string]struct{ varies, timeOnly, sharded bool }{
		"OPS_LOG":                  {false, false, false},
		"STATUS#{value}":           {false, false, false},
		"USER#{id}":                {true, false, false},
		"STATUS#{value}#{id}":      {true, false, false},
		"LOG#{day}":                {true, true, false},
		"LOG#{value}#{hour}":       {true, true, false},
		"LOG#{day}#{id}":           {true, false, false},
		"LOG#{week}#{time}":        {true, true, false},
		"{month}":                  {true, true, false},
		"VIEWS#SHARD_{n}":          {true, false, true},
		"VIEWS#SHARD#{n}":          {true, false, true},
		"VIEWS#SHARD_{id}":         {true, false, false},
		"VIEWS#SHARD_{n}#x":        {true, false, false},
		"LOG#{day}#{n}":            {true, false, true},
		"LOG#{day}.{n}":            {true, false, true},
		"LOG#{day}-{n}":            {true, false, false},
		"USER#{n}":                 {true, false, false},
		"USER#{id}#{n}":            {true, false, false},
		"VIEWS.{n}":                {true, false, false},
		"LOG#{day}#SHARD_{n}":      {true, false, true},
		"STATUS#{value}#SHARD_{n}": {true, false, true},
	} {
		if got := varies(shape); got != want.varies {
			t.Errorf("%s: varies %v", shape, got)
		}
		if got := timeOnly(shape); got != want.timeOnly {
			t.Errorf("%s: by nothing but the time %v", shape, got)
		}
		if got := sharded(shape); got != want.sharded {
			t.Errorf("%s: sharded %v", shape, got)
		}
	}
}

// The shape of a key is what its source has learnt, of writes first; else that of its looks, or one that it may have.
func TestShapeIn(t *testing.T) {
	r := &ResourceReport{
		Writes:   Flow{Keys: []KeyHeat{{Key: "A#b", Shape: "written"}, {Key: "A#none"}}},
		Reads:    Flow{Keys: []KeyHeat{{Key: "A#b", Shape: "read"}, {Key: "A#c", Shape: "read"}, {Key: "A#none"}}},
		Stored:   &Stored{Keys: []KeyItems{{Key: "A#c", Shape: "stored"}, {Key: "A#d", Shape: "stored"}, {Key: "A#none"}}},
		Patterns: []Pattern{{Shape: "B#{id}"}, {Shape: "C#{n}"}, {Shape: "S#{value}", Values: []PatternValue{{Key: "S#on"}}}, {Shape: "TENANT#{id}"}},
	}
	for key, want := range map[string]string{
		"A#b": "written", "A#c": "read", "A#d": "stored", "A#none": "A#{id}",
		"B#x": "B#{id}", "C#7": "C#{n}", "S#on": "S#{value}", "TENANT#ACME": "TENANT#{id}", "OTHER#1": "OTHER#{n}",
	} {
		if got := shapeIn(r, key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

// A source that has learnt nothing is learnt from, by the keys that it lists; one that has stays as it is.
func TestLearnFromListedKeys(t *testing.T) {
	r := ResourceReport{
		Writes: Flow{Keys: []KeyHeat{{Key: "STATUS#ACTIVE", Units: 90}, {Key: "STATUS#NEW", Units: 5, Requests: 10}}},
		Reads:  Flow{Keys: []KeyHeat{{Key: "STATUS#ACTIVE", Units: 200}, {Key: "STATUS#NEW", Units: 1}, {Key: "USER#1", Units: 300}}},
	}
	listed := r.Writes.Keys
	r.learn()
	want := []Pattern{
		{
			Shape: "STATUS#{value}", Example: "STATUS#ACTIVE", Distinct: Distinct{Keys: 2}, Reads: 201, Writes: 100,
			Values: []PatternValue{{Value: "ACTIVE", Key: "STATUS#ACTIVE", Reads: 200, Writes: 90}, {Value: "NEW", Key: "STATUS#NEW", Reads: 1, Writes: 10}},
		},
		{Shape: "USER#{n}", Example: "USER#1", Distinct: Distinct{Keys: 1}, Reads: 300},
	}
	if !reflect.DeepEqual(r.Patterns, want) {
		t.Errorf("got %+v, want %+v", r.Patterns, want)
	}
	if r.Writes.Keys[0].Shape != "STATUS#{value}" || r.Reads.Keys[2].Shape != "USER#{n}" || listed[0].Shape != "" {
		t.Errorf("got %+v and %+v, of %+v", r.Writes.Keys, r.Reads.Keys, listed)
	}
	for name, r := range map[string]ResourceReport{
		"one key": {Writes: Flow{Keys: []KeyHeat{{Key: "A#1"}}}}, "learnt": {Patterns: []Pattern{{Shape: "X"}}, Writes: Flow{Keys: []KeyHeat{{Key: "A#1"}, {Key: "A#2"}}}},
	} {
		before := len(r.Patterns)
		if r.learn(); len(r.Patterns) != before || r.Writes.Keys[0].Shape != "" {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	one := ResourceReport{Writes: Flow{Keys: []KeyHeat{{Key: "A#1"}}}, Reads: Flow{Keys: []KeyHeat{{Key: "A#2"}}}}
	if one.learn(); len(one.Patterns) != 1 || one.Patterns[0].Shape != "A#{n}" {
		t.Errorf("one key of each: got %+v", one.Patterns)
	}
}

// Patterns of reads and writes become one, with the larger number of keys, most units first.
func TestMergePatterns(t *testing.T) {
	reads := []Pattern{{Shape: "A", Distinct: Distinct{Keys: 3}, Reads: 10}, {Shape: "B", Distinct: Distinct{Keys: 3}, Reads: 5}, {Shape: "D", Reads: 1}}
	writes := []Pattern{{Shape: "B", Distinct: Distinct{Keys: 4}, Writes: 6}, {Shape: "A", Distinct: Distinct{Keys: 2}, Writes: 3}, {Shape: "C", Writes: 1}}
	want := []Pattern{
		{Shape: "A", Distinct: Distinct{Keys: 3}, Reads: 10, Writes: 3},
		{Shape: "B", Distinct: Distinct{Keys: 4}, Reads: 5, Writes: 6},
		{Shape: "C", Writes: 1},
		{Shape: "D", Reads: 1},
	}
	if got := mergePatterns(reads, writes); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	values := mergeValues([]PatternValue{{Value: "a", Reads: 1}, {Value: "b", Reads: 5}}, []PatternValue{{Value: "a", Writes: 9}, {Value: "c", Writes: 5}, {Value: "d", Items: 1}, {Value: "e", Items: 2}})
	wantValues := []PatternValue{{Value: "a", Reads: 1, Writes: 9}, {Value: "b", Reads: 5}, {Value: "c", Writes: 5}, {Value: "e", Items: 2}, {Value: "d", Items: 1}}
	if !reflect.DeepEqual(values, wantValues) {
		t.Errorf("got %+v, want %+v", values, wantValues)
	}
}
