package passage

import (
	"fmt"
	"strconv"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// Version is the newest schema of a record that this package understands. Version 2 has tables, and records that are elsewhere. Version 3
// has announcements. A record is written with the smallest version that has what it says, so that older processes read it as long as
// they can.
const Version = 3

// version returns the version that the record is written with.
func (r Record) version() int64 {
	if r.Announced != nil {
		return 3
	}
	for _, a := range []*Arrangement{&r.Now, r.Next, r.Former} {
		if a != nil && a.Table != "" {
			return 2
		}
	}
	return 1
}

// The names of a record's attributes, in the order of Encode.
const (
	nameVersion    = ledger.Prefix + "v"
	nameGeneration = ledger.GenerationName
	nameStage      = ledger.Prefix + "st"
	nameNow        = ledger.Prefix + "now"
	nameNext       = ledger.Prefix + "next"
	nameAnnounced  = ledger.Prefix + "announced" // from version 3 on, and only if there is one
	nameFormer     = ledger.Prefix + "former"
	nameAt         = ledger.Prefix + "at"
	nameWhy        = ledger.Prefix + "why"
	nameBy         = ledger.Prefix + "by"
)

// stages are the names of stages as they are stored. They do not change, unlike texts for people.
var stages = []struct {
	name  string
	stage forward.Stage
}{
	{"settled", forward.Stage{}},
	{"split", forward.Stage{Phase: forward.Split}},
	{"closed", forward.Stage{Phase: forward.Closed}},
	{"settling", forward.Stage{Phase: forward.Settling}},
	{"settled, deads", forward.Stage{Trace: forward.Deads}},
	{"back", forward.Stage{Phase: forward.Back}},
	{"settled, returned", forward.Stage{Trace: forward.Returned}},
}

func stageName(s forward.Stage) (string, bool) {
	for _, known := range stages {
		if known.stage == s {
			return known.name, true
		}
	}
	return "", false
}

// Encode returns the record as it is stored: equal records give equal values. All names of its version are there, as writing a record
// replaces it. An arrangement that there is not is an empty string.
func (r Record) Encode() []ledger.Value {
	number := func(name string, n int64) ledger.Value {
		return ledger.Value{Name: name, Number: true, Text: strconv.FormatInt(n, 10)}
	}
	arrangement := func(a *Arrangement) string {
		if a == nil {
			return ""
		}
		return a.text()
	}
	values := []ledger.Value{
		number(nameVersion, r.version()),
		number(nameGeneration, r.Generation),
		{Name: nameStage, Text: r.stageText()},
		{Name: nameNow, Text: r.Now.text()},
		{Name: nameNext, Text: arrangement(r.Next)},
		{Name: nameFormer, Text: arrangement(r.Former)},
		number(nameAt, r.At),
		{Name: nameWhy, Text: r.Why},
		{Name: nameBy, Text: r.By},
	}
	if r.Announced != nil {
		values = append(values, ledger.Value{Name: nameAnnounced, Text: r.Announced.text()})
	}
	return values
}

// Parse reads a record as it is stored, in any order of its values. It refuses whatever it does not understand: a newer version with
// ledger.ErrNewer; a name that is missing, unknown or there twice, and what cannot be, with ErrRecord.
func Parse(values []ledger.Value) (Record, error) {
	f := ledger.NewFields(values)
	v := f.Number(nameVersion)
	if v > Version {
		return Record{}, fmt.Errorf("%w: it has version %d, and this process understands %d: upgrade heatsink in this process", ledger.ErrNewer, v, Version)
	} else if v < 1 && f.Err() == nil {
		f.Fault("version %d: it counts from 1", v)
	}
	r := Record{Generation: f.Number(nameGeneration), At: f.Number(nameAt), Why: f.Text(nameWhy), By: f.Text(nameBy)}
	r.Stage, r.Seat = stage(f)
	if now := arrangement(f, nameNow, true); now != nil {
		r.Now = *now
	}
	r.Next, r.Former = arrangement(f, nameNext, false), arrangement(f, nameFormer, false)
	if v >= 3 {
		r.Announced = arrangement(f, nameAnnounced, true)
	}
	f.End()
	if err := f.Err(); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if err := r.Validate(); err != nil {
		return Record{}, err
	}
	if v != r.version() {
		return Record{}, fmt.Errorf("%w: it has version %d, and what it says needs %d", ErrRecord, v, r.version())
	}
	return r, nil
}

// stageText returns the stage as it is stored, or the seat of a record that is elsewhere.
func (r Record) stageText() string {
	if r.Seat != Here {
		return r.Seat.String()
	}
	return describe(r.Stage)
}

func stage(f *ledger.Fields) (forward.Stage, Seat) {
	text, ok := f.Lookup(nameStage)
	if !ok {
		return forward.Stage{}, Here
	}
	for _, s := range []Seat{Elsewhere, Retired} {
		if s.String() == text {
			return forward.Stage{}, s
		}
	}
	for _, known := range stages {
		if known.name == text {
			return known.stage, Here
		}
	}
	f.Fault("%s is %s: it is no stage of a move; upgrade heatsink in this process if a newer version wrote it", nameStage, quote.Text(text))
	return forward.Stage{}, Here
}

// arrangement reads one that may be missing, as an empty string, unless it is needed.
func arrangement(f *ledger.Fields, name string, needed bool) *Arrangement {
	text, ok := f.Lookup(name)
	if !ok || text == "" && !needed {
		return nil
	}
	a, err := parseArrangement(text)
	if err != nil {
		f.Fault("%s: %w", name, err)
		return nil
	}
	return &a
}
