package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/layout"
)

// Prefix begins the name of every attribute that heatsink adds to a table, so that none of them is a key attribute of the
// table or of an index.
const Prefix = "_hs_"

// The names of a record's attributes, in the order of Encode.
const (
	nameVersion    = Prefix + "v"
	nameGeneration = Prefix + "g"
	nameEpoch      = Prefix + "e"
	nameRead       = Prefix + "R"
	nameWrite      = Prefix + "W"
	nameState      = Prefix + "st"
	nameStrategy   = Prefix + "s"
	nameHash       = Prefix + "h"
	nameFrozen     = Prefix + "z"
	nameWhy        = Prefix + "why"
	nameBy         = Prefix + "by"
	nameAt         = Prefix + "at"
	nameHistory    = Prefix + "hist"
)

const (
	// GenerationName is the attribute of a record that WriteLedger.If is about.
	GenerationName = nameGeneration

	// ReadName is the attribute of a record that WriteLedger.Most is about: the read width, a number.
	ReadName = nameRead

	// StampName is the attribute of an item that has its stamp: the generation that the writer knew, a number above 0.
	// Items of writers that knew of no record do not have it.
	StampName = nameGeneration
)

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
		past[i] = p.String()
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
	f := NewFields(values)
	if v := f.Number(nameVersion); v > Version {
		return Record{}, fmt.Errorf("%w: it has version %d, and this process understands %d: upgrade heatsink in this process", ErrNewer, v, Version)
	} else if v < 1 && f.Err() == nil {
		f.Fault("version %d: it counts from 1", v)
	}
	r := Record{
		Generation: f.Number(nameGeneration),
		Epoch:      f.Number(nameEpoch),
		Read:       shards(f, nameRead),
		Write:      shards(f, nameWrite),
		State:      State(f.Text(nameState)),
		Strategy:   choice(f, nameStrategy, layout.Random, layout.Calculated),
		Hash:       choice(f, nameHash, hashes...),
		Why:        f.Text(nameWhy),
		By:         f.Text(nameBy),
		At:         f.Number(nameAt),
		History:    history(f),
	}
	switch frozen := f.Number(nameFrozen); frozen {
	case 0:
	case 1:
		r.Frozen = true
	default:
		f.Fault("%s is %d: want 0 or 1", nameFrozen, frozen)
	}
	f.End()
	if r.Generation == 0 && f.Err() == nil {
		f.Fault("generation 0: a record that is stored counts from 1")
	}
	if err := f.Err(); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if err := r.Validate(); err != nil {
		return Record{}, err
	}
	return r, nil
}

// shards reads a number of shards. One that no int holds is none that Validate takes either.
func shards(f *Fields, name string) int {
	return int(min(f.Number(name), layout.MaxShards+1))
}

func history(f *Fields) (past []Past) {
	text := f.Text(nameHistory)
	if text == "" {
		return nil
	}
	for entry := range strings.SplitSeq(text, " ") {
		var at Past
		if _, err := fmt.Sscanf(entry, "%d:%d/%d", &at.Generation, &at.Write, &at.Read); err != nil || at.String() != entry {
			f.Fault("%s has %q: want generation:write/read, such as 3:4/16", nameHistory, entry)
			return nil
		}
		past = append(past, at)
	}
	return past
}

// choice reads the name of one of several values.
func choice[T fmt.Stringer](f *Fields, name string, all ...T) (chosen T) {
	text, there := f.Lookup(name)
	if !there {
		return chosen
	}
	chosen, ok := named(text, all...)
	if !ok {
		f.Fault("%s is %q: want one of %v", name, text, all)
	}
	return chosen
}
