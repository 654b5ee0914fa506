package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/layout"
)

// ledgerPolicy prints IAM policies.
type ledgerPolicy struct {
	table, control, index string
	uses                  []string
}

// right is what a use needs to be allowed.
type right struct {
	on      string // table, index or control
	actions []string
	data    bool // items of the table that are no control items, too
}

// The requests of each use of ledgers. A test compares them with those that are sent.
var rights = map[string][]right{
	"process": {
		{on: "control", actions: []string{"DescribeTable", "GetItem", "PutItem", "UpdateItem"}},
		{on: "table", actions: []string{"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"}, data: true},
		{on: "index", actions: []string{"Query"}, data: true},
	},
	"show":    {{on: "table", actions: []string{"DescribeTable"}}, {on: "control", actions: []string{"DescribeTable", "GetItem"}}},
	"ls":      {{on: "table", actions: []string{"DescribeTable"}}, {on: "control", actions: []string{"DescribeTable", "GetItem", "Scan"}}},
	"grow":    {{on: "table", actions: []string{"DescribeTable"}}, {on: "control", actions: []string{"DescribeTable", "GetItem", "PutItem"}}},
	"freeze":  {{on: "table", actions: []string{"DescribeTable"}}, {on: "control", actions: []string{"DescribeTable", "GetItem", "PutItem", "UpdateItem"}}},
	"charter": {{on: "table", actions: []string{"DescribeTable"}}, {on: "control", actions: []string{"GetItem", "PutItem"}}},
	"repair": {
		{on: "table", actions: []string{"DescribeTable"}},
		{on: "table", actions: []string{"Query"}, data: true},
		{on: "index", actions: []string{"Query"}, data: true},
		{on: "control", actions: []string{"DescribeTable", "GetItem", "PutItem"}},
	},
}

func newLedgerPolicy() *cobra.Command {
	var p ledgerPolicy
	all := slices.Sorted(maps.Keys(rights))
	cmd := &cobra.Command{
		Use:   "policy --table-arn ARN",
		Short: "Print the least IAM policy for a process, or for these commands",
		Long: `Print the least IAM policy that --for needs. It contains what a process with Options.Adaptive
sends ("process"), or what the command of that name sends. "freeze" is for thaw as well.

Where a statement is about control items alone, a condition keeps it to keys that begin with
` + layout.ControlPrefix + `. DynamoDB knows no such condition for Scan and DescribeTable.

A process describes the table in order to refuse global tables. It goes on if it may not. The
command needs no AWS account.`,
		Example: `  heatsink ledger policy --table-arn arn:aws:dynamodb:eu-west-1:123456789012:table/orders --for process
  heatsink ledger policy --table-arn arn:aws:dynamodb:eu-west-1:123456789012:table/orders --for ls,show,freeze`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.validate(all); err != nil {
				return err
			}
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			return encoder.Encode(p.policy())
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.table, "table-arn", "", "ARN of the table (required)")
	f.StringVar(&p.control, "control-table-arn", "", "ARN of the table of the control items, if it is not the table itself")
	f.StringVar(&p.index, "index", "", "name of the global index that is spread, if there is one")
	f.StringSliceVar(&p.uses, "for", nil, "what the policy is for, one or more of: "+strings.Join(all, ", ")+" (required)")
	return cmd
}

func (p *ledgerPolicy) validate(all []string) error {
	for _, a := range []struct{ name, arn string }{{"table-arn", p.table}, {"control-table-arn", p.control}} {
		if a.arn != "" && (!strings.HasPrefix(a.arn, "arn:") || !strings.Contains(a.arn, ":table/")) {
			return fmt.Errorf("--%s %q: want an ARN such as arn:aws:dynamodb:eu-west-1:123456789012:table/orders", a.name, a.arn)
		}
	}
	switch {
	case p.table == "":
		return errors.New("no table given: add --table-arn ARN")
	case len(p.uses) == 0:
		return fmt.Errorf("nothing says what the policy is for: add --for with one or more of %s", strings.Join(all, ", "))
	}
	for _, use := range p.uses {
		if rights[use] == nil {
			return fmt.Errorf("--for %q: want one or more of %s", use, strings.Join(all, ", "))
		}
	}
	return nil
}

// policyDocument is a policy as IAM reads it.
type policyDocument struct {
	Version   string
	Statement []policyStatement
}

type policyStatement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// policy returns the policy with a statement for each resource and condition.
func (p *ledgerPolicy) policy() policyDocument {
	d := policyDocument{Version: "2012-10-17"}
	control := p.control
	if control == "" {
		control = p.table
	}
	free := map[string][]string{}    // by resource: without a condition
	limited := map[string][]string{} // only for control items
	for _, use := range p.uses {
		for _, r := range rights[use] {
			resource := map[string]string{"table": p.table, "control": control, "index": p.table + "/index/" + p.index}[r.on]
			if r.on == "index" && p.index == "" || r.on == "table" && r.data && use == "repair" && p.index != "" {
				continue // a repair looks where the key is spread
			}
			for _, action := range r.actions {
				into := limited
				if r.data || p.control != "" || action == "Scan" || action == "DescribeTable" {
					into = free
				}
				into[resource] = append(into[resource], "dynamodb:"+action)
			}
		}
	}
	add := func(sid, resource string, actions []string, condition map[string]map[string][]string) {
		slices.Sort(actions)
		if actions = slices.Compact(actions); len(actions) > 0 {
			d.Statement = append(d.Statement, policyStatement{fmt.Sprint(sid, len(d.Statement)+1), "Allow", actions, resource, condition})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(free)) {
		add("Heatsink", resource, free[resource], nil)
	}
	for _, resource := range slices.Sorted(maps.Keys(limited)) {
		kept := slices.DeleteFunc(limited[resource], func(action string) bool { return slices.Contains(free[resource], action) })
		add("HeatsinkControl", resource, kept, map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {layout.ControlPrefix + "*"}}})
	}
	return d
}
