package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/layout"
)

// Value is one attribute of a stored record: a number if Number, else a string.
type Value struct {
	Name   string
	Number bool
	Text   string
}

// The names of a record's attributes, in the order of Encode. A key attribute of the table must not have one of them.
const (
	nameVersion    = "v"
	nameGeneration = "g"
	nameEpoch      = "e"
	nameRead       = "R"
	nameWrite      = "W"
	nameState      = "st"
	nameStrategy   = "s"
	nameHash       = "h"
	nameFrozen     = "z"
	nameWhy        = "why"
	nameBy         = "by"
	nameAt         = "at"
	nameHistory    = "hist"
)

// GenerationName is the attribute that a conditional write of a record compares.
const GenerationName = nameGeneration

// Encode returns the record as it is stored: equal records give equal values. All names are there, always, as writing a
// record replaces it. Strings may be empty, which DynamoDB allows outside of keys.
func (r Record) Encode() []Value {
	number := func(name string, n int64) Value { return Value{name, true, strconv.FormatInt(n, 10)} }
	frozen := int64(0)
	if r.Frozen {
		frozen = 1
	}
	past := make([]string, len(r.History))
	for i, p := range r.History {
		past[i] = fmt.Sprintf("%d:%d/%d", p.Generation, p.Write, p.Read)
	}
	return []Value{
		number(nameVersion, Version),
		number(nameGeneration, r.Generation),
		number(nameEpoch, r.Epoch),
		number(nameRead, int64(r.Read)),
		number(nameWrite, int64(r.Write)),
		{nameState, false, string(r.State)},
		{nameStrategy, false, r.Strategy.String()},
		{nameHash, false, r.Hash.String()},
		number(nameFrozen, frozen),
		{nameWhy, false, r.Why},
		{nameBy, false, r.By},
		number(nameAt, r.At),
		{nameHistory, false, strings.Join(past, " ")},
	}
}

// Parse reads a record as it is stored, in any order of its values. It refuses whatever it does not understand: a newer
// version with ErrNewer; a name that is missing, unknown or there twice, and widths that cannot be, with ErrRecord. No
// values at all are refused too: who finds nothing stored uses Absent.
func Parse(values []Value) (Record, error) {
	p := parser{values: map[string]Value{}}
	for _, v := range values {
		if _, twice := p.values[v.Name]; twice {
			p.fault("%s is there twice", v.Name)
		}
		p.values[v.Name] = v
	}
	if v := p.number(nameVersion); v > Version {
		return Record{}, fmt.Errorf("%w: it has version %d, and this process understands %d: upgrade heatsink in this process", ErrNewer, v, Version)
	} else if v < 1 && p.faults == nil {
		p.fault("version %d: it counts from 1", v)
	}
	r := Record{
		Generation: p.number(nameGeneration),
		Epoch:      p.number(nameEpoch),
		Read:       p.width(nameRead),
		Write:      p.width(nameWrite),
		State:      State(p.text(nameState)),
		Strategy:   choice(&p, nameStrategy, layout.Random, layout.Calculated),
		Hash:       choice(&p, nameHash, hashes...),
		Why:        p.text(nameWhy),
		By:         p.text(nameBy),
		At:         p.number(nameAt),
		History:    p.history(),
	}
	switch frozen := p.number(nameFrozen); frozen {
	case 0:
	case 1:
		r.Frozen = true
	default:
		p.fault("%s is %d: want 0 or 1", nameFrozen, frozen)
	}
	for _, v := range values {
		if _, unknown := p.values[v.Name]; unknown {
			p.fault("unknown attribute %q", v.Name)
		}
	}
	if r.Generation == 0 && p.faults == nil {
		p.fault("generation 0: a record that is stored counts from 1")
	}
	if p.faults != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, errors.Join(p.faults...))
	}
	if err := r.Validate(); err != nil {
		return Record{}, err
	}
	return r, nil
}

// parser takes values out one by one, so that those left are unknown.
type parser struct {
	values map[string]Value
	faults []error
}

func (p *parser) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf(format, args...))
}

func (p *parser) take(name string, number bool) (string, bool) {
	v, ok := p.values[name]
	delete(p.values, name)
	switch {
	case !ok:
		p.fault("%s is missing", name)
	case v.Number != number && number:
		p.fault("%s is the string %q: want a number", name, v.Text)
	case v.Number != number:
		p.fault("%s is the number %s: want a string", name, v.Text)
	default:
		return v.Text, true
	}
	return "", false
}

func (p *parser) text(name string) string {
	text, _ := p.take(name, false)
	return text
}

func (p *parser) number(name string) int64 {
	text, ok := p.take(name, true)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fault("%s is %q: want a whole number", name, text)
	}
	return n
}

// width reads a number of shards. One that no int holds is none that Validate takes either.
func (p *parser) width(name string) int {
	return int(min(p.number(name), layout.MaxShards+1))
}

func (p *parser) history() (past []Past) {
	text := p.text(nameHistory)
	for entry := range strings.FieldsSeq(text) {
		var at Past
		if _, err := fmt.Sscanf(entry, "%d:%d/%d", &at.Generation, &at.Write, &at.Read); err != nil || fmt.Sprintf("%d:%d/%d", at.Generation, at.Write, at.Read) != entry {
			p.fault("%s has %q: want generation:write/read, such as 3:4/16", nameHistory, entry)
			return nil
		}
		past = append(past, at)
	}
	return past
}

// choice reads the name of one of several values.
func choice[T fmt.Stringer](p *parser, name string, all ...T) (chosen T) {
	text, there := p.take(name, false)
	if !there {
		return chosen
	}
	chosen, ok := named(text, all...)
	if !ok {
		p.fault("%s is %q: want one of %v", name, text, all)
	}
	return chosen
}
