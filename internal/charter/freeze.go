package charter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// The names of the attributes of a freeze. They are there only while the collection is frozen. A version of heatsink that
// does not know them refuses the charter then, as it would not obey the freeze.
const (
	nameFrozen    = ledger.Prefix + "z" // a number: when, in milliseconds since 1970
	nameFrozenBy  = ledger.Prefix + "z_by"
	nameFrozenWhy = ledger.Prefix + "z_why"
)

// Freeze says whether the keys of a collection may grow. The zero Freeze says that they may.
type Freeze struct {
	On bool

	// Why, By and At tell people about the freeze, as those of Charter. They are zero unless On is set.
	Why, By string
	At      int64
}

// String returns when and by whom the collection was frozen, and why.
func (f Freeze) String() string {
	if !f.On {
		return "not frozen"
	}
	text := fmt.Sprintf("frozen at %s by %s", time.UnixMilli(f.At).UTC().Format(time.RFC3339), quote.Text(cmp.Or(f.By, "somebody")))
	if f.Why != "" {
		text += ": " + quote.Text(f.Why)
	}
	return text
}

// plain returns a freeze as it is stored.
func (f Freeze) plain() Freeze {
	if !f.On {
		return Freeze{}
	}
	f.Why, f.By = ledger.Audit(f.Why), ledger.Audit(f.By)
	return f
}

// Encode returns the freeze as it is stored: nothing if there is none.
func (f Freeze) Encode() []ledger.Value {
	f = f.plain()
	if !f.On {
		return nil
	}
	return []ledger.Value{
		{Name: nameFrozen, Number: true, Text: strconv.FormatInt(f.At, 10)},
		{Name: nameFrozenBy, Text: f.By},
		{Name: nameFrozenWhy, Text: f.Why},
	}
}

// FreezeNames are the names of the attributes of a freeze.
func FreezeNames() []string { return []string{nameFrozen, nameFrozenBy, nameFrozenWhy} }

// FreezeOf returns the freeze of a charter that Parse may refuse otherwise. It takes whatever says that there is a freeze
// for one.
func FreezeOf(values []ledger.Value) (f Freeze) {
	for _, v := range values {
		switch v.Name {
		case nameFrozen:
			f.On = true
			f.At, _ = strconv.ParseInt(v.Text, 10, 64) // 0 if it is no time
		case nameFrozenBy:
			f.On, f.By = true, v.Text
		case nameFrozenWhy:
			f.On, f.Why = true, v.Text
		}
	}
	return f.plain()
}

// freeze takes the attributes of a freeze, if there are any.
func freeze(f *ledger.Fields, values []ledger.Value) Freeze {
	if !slices.ContainsFunc(values, func(v ledger.Value) bool { return slices.Contains(FreezeNames(), v.Name) }) {
		return Freeze{}
	}
	return Freeze{On: true, At: f.Number(nameFrozen), By: f.Text(nameFrozenBy), Why: f.Text(nameFrozenWhy)}
}
