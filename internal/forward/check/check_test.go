package check

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/forward"
)

var full = flag.Bool("full", false, "run the long scenarios, too: five minutes")

// quick are scenarios that end within a second.
var quick = []Scenario{
	{Processes: []string{"create:a", "create:b", "get"}, Movers: 1},
	{Processes: []string{"put:a;delete", "get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"delete", "get;list"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"transact:a", "get;get"}, Movers: 1},
	{Item: "p", Processes: []string{"has:p>", "put:a", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"hasno", "delete;create:a", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"tdelete", "delete;create:a"}, Movers: 1},
	{Processes: []string{"tdelete", "create:a", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"tswap:p>a", "tupsert:b", "get"}, Movers: 1},
	{Processes: []string{"tcreate:a", "hasno", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"has:p>", "update:a"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"tdelete", "hasno"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"swap:p>a", "swap:p>b", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"upsert:p>a", "delete:p>", "get"}, Movers: 1},
	{Processes: []string{"upsert:b>a", "put:b", "get"}, Movers: 1},
	{Processes: []string{"create:a", "get"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"update:a", "get"}, Movers: 1, Returns: 1},
	{Processes: []string{"create:a", "list"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"put:a;delete", "list"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"delete;create:a", "get"}, Movers: 1, Moves: 2},
	{Item: "p", Processes: []string{"remove", "scan;scan"}, Movers: 1, Late: 1},
	{Processes: []string{"append:a", "remove", "scan"}, Movers: 1},
}

// long are scenarios with more processes, movers and late writes.
var long = []Scenario{
	{Item: "p", Processes: []string{"delete:p>", "put:a;get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"upsert:p>a", "delete:p>;get"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"update:a", "get"}, Movers: 1, Returns: 1, Late: 1},
	{Item: "p", Processes: []string{"upsert:a", "get"}, Movers: 2},
	{Processes: []string{"create:a", "create:b", "get;get"}, Movers: 2, Late: 1},
	{Item: "p", Processes: []string{"delete", "get;get"}, Movers: 2, Late: 2},
	{Item: "p", Processes: []string{"update:a", "delete", "list"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"delete;create:a", "create:b", "get;list"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"transact:a", "delete", "get;get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"tdelete", "delete", "create:a;get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"has:p>", "hasno", "delete;create:a"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"hasno", "tdelete"}, Movers: 1, Returns: 1, Late: 1},
	{Item: "p", Processes: []string{"tdelete;tcreate:a", "get;list"}, Movers: 1, Moves: 2},
	{Processes: []string{"put:a;delete", "put:b", "get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"update:a", "delete", "create:b", "list"}, Movers: 1},
	{Item: "p", Processes: []string{"delete;create:a", "list;get"}, Movers: 2, Late: 1},
	{Item: "p", Processes: []string{"swap:p>a", "swap:p>b", "delete", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"put:a", "delete", "get;get"}, Movers: 2},
	{Item: "p", Processes: []string{"upsert:a", "upsert:b", "delete", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"put:a", "get;get"}, Movers: 1, Returns: 2, Late: 1},
	{Item: "p", Processes: []string{"delete;create:a", "get;list"}, Movers: 1, Returns: 1, Late: 1},
	{Item: "p", Processes: []string{"transact:a", "delete", "get"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"put:a", "get"}, Movers: 2, Moves: 2},
	{Item: "p", Processes: []string{"delete", "create:a", "get"}, Movers: 1, Moves: 3},
	{Item: "p", Processes: []string{"put:a", "get"}, Movers: 1, Returns: 1, Late: 1, Moves: 2},
	{Item: "p", Processes: []string{"remove", "scan;scan"}, Movers: 2, Late: 1},
	{Processes: []string{"append:a", "remove", "scan;scan"}, Movers: 1, Late: 1},
	{Processes: []string{"append:a", "scan;scan"}, Movers: 2, Late: 1},
	{Item: "p", Processes: []string{"remove", "remove", "scan"}, Movers: 1, Late: 1},
}

// Whatever becomes of its homes, an id is one item.
func TestOneItem(t *testing.T) {
	scenarios := quick
	if *full {
		scenarios = append(scenarios, long...)
	}
	states := 0
	for _, s := range scenarios {
		s.Limit = 20_000_000
		v, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		if v.Wrong != "" || !v.Whole {
			t.Errorf("%+v: %d states, all of them: %v, wrong answer:\n%s", s, v.States, v.Whole, v.Wrong)
		}
		t.Logf("%q %q, %d movers, %d returns, %d moves, %d late: %d states", s.Item, s.Processes, s.Movers, s.Returns, s.Moves, s.Late, v.States)
		states += v.States
	}
	t.Logf("%d states", states)
}

// hunts are the scenarios that show what a rule is good for.
var hunts = map[string]Scenario{
	"Unfenced":       {Item: "p", Processes: []string{"put:a", "get;get"}},
	"DeadExists":     {Item: "p", Processes: []string{"delete;create:a", "get"}},
	"DeadLives":      {Item: "p", Processes: []string{"delete", "update:a", "list"}},
	"RealDelete":     {Item: "p", Processes: []string{"delete", "get;get"}, Late: 1},
	"CopyOver":       {Item: "p", Processes: []string{"put:a", "get;get"}},
	"PutCreatesOld":  {Processes: []string{"put:a", "get;get"}},
	"DropAnyDead":    {Item: "p", Processes: []string{"put:a", "get;get"}},
	"ReturnOver":     {Item: "p", Processes: []string{"put:a", "get;get"}, Returns: 1, Late: 1},
	"BlindRead":      {Item: "p", Processes: []string{"put:a", "get;get"}},
	"NoStub":         {Processes: []string{"create:a", "create:b", "get"}},
	"CreateOld":      {Processes: []string{"create:a", "create:b", "get"}},
	"ClosedBlind":    {Item: "p", Processes: []string{"put:a", "get;get"}},
	"NoHelp":         {Item: "p", Processes: []string{"update:a", "get;get"}},
	"UpsertBlind":    {Item: "p", Processes: []string{"upsert:a", "get"}},
	"UpsertNoStub":   {Processes: []string{"upsert:a", "upsert:b", "get"}},
	"FrozenAbsent":   {Item: "p", Processes: []string{"put:a", "get;get"}},
	"OldAbsent":      {Processes: []string{"create:a", "create:b", "get"}},
	"NoFollow":       {Item: "p", Processes: []string{"put:a", "get;get"}},
	"SettlingReal":   {Item: "p", Processes: []string{"delete", "get;get"}, Late: 1},
	"Bury":           {Processes: []string{"put:a", "delete", "get"}},
	"CopyFirst":      {Item: "p", Processes: []string{"put:a", "get;get"}},
	"StripFirst":     {Item: "p", Processes: []string{"put:a", "get;get"}},
	"ReturnUncopied": {Item: "p", Processes: []string{"put:a", "get;get"}, Returns: 1},
	"ReturnUnfrozen": {Item: "p", Processes: []string{"put:a", "get;get"}, Returns: 1},
	"CloseEarly":     {Processes: []string{"create:a", "create:b", "get"}},
	"OldPass":        {Processes: []string{"create:a", "create:b", "get"}},
	"DropEarly":      {Item: "p", Processes: []string{"put:a", "get;get"}},
	"SweepEarly":     {Item: "p", Processes: []string{"delete", "get;get"}, Late: 1},
	"SweepAtOnce":    {Item: "p", Processes: []string{"delete;create:a", "get"}, Moves: 3},
	"ReturnEarly":    {Item: "p", Processes: []string{"put:a", "get;get"}, Returns: 1},
	"DropBackEarly":  {Item: "p", Processes: []string{"put:a", "get;get"}, Returns: 1},
	"RemoveCopies":   {Processes: []string{"append:a", "remove", "scan"}, Late: 1},
	"NoLease":        {Item: "p", Processes: []string{"put:a", "get;get"}},
	"MoverLease":     {Item: "p", Processes: []string{"delete", "list;get"}, Movers: 2},
	"ShortWait":      {Item: "p", Processes: []string{"delete", "get;get"}, Late: 1},
}

// Each rule is needed: without it some answer is wrong. With it, none is.
func TestEachRuleIsNeeded(t *testing.T) {
	rules := reflect.TypeFor[forward.Breaks]()
	kept := map[string]bool{} // scenarios that were run with all rules
	for i := range rules.NumField() {
		name := rules.Field(i).Name
		s, ok := hunts[name]
		if !ok {
			t.Errorf("no scenario shows what the rule of %s is good for", name)
			continue
		}
		s.Movers = max(s.Movers, 1)
		s.Limit = 400_000
		reflect.ValueOf(&s.Breaks).Elem().Field(i).SetBool(true)
		v, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		if v.Wrong == "" {
			t.Errorf("%s: no wrong answer in %d states of %+v", name, v.States, s)
		}
		t.Logf("%s: wrong after %d states", name, v.States)
		s.Breaks = forward.Breaks{}
		if text := fmt.Sprint(s); !kept[text] {
			kept[text] = true
			s.Limit = 20_000
			if v, _ := Run(s); v.Wrong != "" {
				t.Errorf("%s: a wrong answer although the rule is kept:\n%s", name, v.Wrong)
			}
		}
	}
}

// A fault is told step by step. A scenario that makes no sense is refused.
func TestFaultsAreTold(t *testing.T) {
	s := Scenario{Item: "p", Processes: []string{"put:a", "get"}, Movers: 1, Breaks: forward.Breaks{Unfenced: true}}
	v, err := Run(s)
	if err != nil || strings.Count(v.Wrong, "\n") < 2 || !strings.Contains(v.Wrong, "split") {
		t.Errorf("got %+v, %v, want the steps to a wrong answer", v, err)
	}
	for _, s := range []Scenario{{Processes: []string{"jump"}}, {Processes: make([]string, 5)}, {Movers: 9}, {Late: 9}} {
		if _, err := Run(s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	if v, err := Run(Scenario{Item: "p", Processes: []string{"put:a", "get"}, Movers: 1, Limit: 10}); err != nil || v.Whole || v.States != 10 {
		t.Errorf("got %+v, %v, want a run that gave up after 10 states", v, err)
	}
}
