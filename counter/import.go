package counter

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink"
)

// errNoOrigin is why there is nothing to import.
var errNoOrigin = fmt.Errorf("%w: Options.Origin is nil: it says where the counts of before are", heatsink.ErrOptions)

// Imported is what a counter has of the attribute of Options.Origin.
type Imported struct {
	Value   int64 // what was imported; 0 if nothing was
	Done    bool  // something was imported
	Changed bool  // by this Import; false if the answer was lost
}

// Import stores the value of the attribute of Options.Origin in the counter, in place of what was imported before. It
// does not change the attribute, and it does not change what processes with an Origin read. Processes without an Origin
// read what was imported.
//
// Import may be repeated at any time, by any number of processes. Older programs may still count: import again when they
// have ended. VerifyImport tells whether that is necessary. If there is neither an attribute nor an import, nothing is
// stored. If the attribute is gone after an import, the error wraps ErrOrigin, and the import stays.
//
// The first Import of a counter costs one strongly consistent read of the item and one write of about 1 KB. Later ones
// cost two reads and a write that is refused, and one more write if the value has changed.
func (c *Counter) Import(ctx context.Context, key string) (Imported, error) {
	ctx = c.metered(ctx)
	var m importing
	if err := c.ready(key); err != nil {
		return Imported{}, err
	}
	for tries := 0; ; tries++ {
		r, more := m.next()
		if !more {
			break
		}
		a := c.store.do(ctx, key, r)
		switch {
		case a.err != nil && (a.outcome != unknown || ctx.Err() != nil):
			return Imported{}, fmt.Errorf("import counter %q: %w", key, a.err)
		case tries > 3*maxTries:
			return Imported{}, fmt.Errorf("import counter %q: %w", key, ErrBusy)
		}
		m = m.step(r, a)
	}
	out, err := c.imported(key, m.stored, m.imports)
	if err != nil {
		return Imported{}, err
	}
	out.Changed = m.changed
	if m.gone {
		item := c.options.Origin.item(key)
		return out, fmt.Errorf("import counter %q: %w: %s is gone; the %d that was imported from it stays", key, ErrOrigin,
			c.options.Origin.describe(item), out.Value)
	}
	return out, nil
}

// Comparison is an import beside the attribute that it is from.
type Comparison struct {
	Attribute int64 // the attribute's value now; 0 if there is none
	Present   bool  // there is an attribute
	Imported
}

// Equal reports whether processes without an Origin read the same as those with one. They do if the attribute is gone
// after the import.
func (c Comparison) Equal() bool { return !c.Present || c.Attribute == c.Value }

// VerifyImport compares the attribute of Options.Origin with what was imported from it. If they differ, an older program
// has counted since: end it, and import again. VerifyImport costs two strongly consistent reads.
func (c *Counter) VerifyImport(ctx context.Context, key string) (Comparison, error) {
	ctx = c.metered(ctx)
	if err := c.ready(key); err != nil {
		return Comparison{}, err
	}
	var out Comparison
	a := c.store.do(ctx, key, request{operation: readOrigin})
	if a.err != nil {
		return out, fmt.Errorf("verify counter %q: %w", key, a.err)
	}
	if a.origin != nil {
		n, err := c.int64(key, *a.origin)
		if err != nil {
			return out, err
		}
		out.Attribute, out.Present = n, true
	}
	if a = c.store.do(ctx, key, request{operation: readBase}); a.err != nil {
		return out, fmt.Errorf("verify counter %q: %w", key, a.err)
	}
	var err error
	out.Imported, err = c.imported(key, a.base.imported, a.base.imports)
	return out, err
}

func (c *Counter) imported(key string, value wide, imports int64) (Imported, error) {
	n, err := c.int64(key, value)
	return Imported{Value: n, Done: imports > 0}, err
}

// importing is the machine that stores an attribute's value in the base. The base numbers its imports. The write needs
// the number that was known before the attribute was read. So what is stored was read after everything that was stored
// before, and an importer that slept undoes nothing. The first time, the number is known without a read: there is none.
type importing struct {
	imports int64 // the number of the last import
	stored  wide  // by it
	known   bool  // what the base has
	asked   bool  // the attribute was read since
	value   *wide
	ended   bool
	changed bool
	gone    bool // the attribute is, and there is an import
}

// next returns the request to send, and false if the import has ended.
func (m importing) next() (request, bool) {
	switch {
	case m.ended:
		return request{}, false
	case !m.asked:
		return request{operation: readOrigin}, true
	case m.value == nil:
		return request{operation: readBase}, true // is there an import?
	}
	return request{operation: importBase, imports: m.imports, imported: *m.value}, true
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (m importing) step(r request, a answer) importing {
	switch {
	case a.outcome == failed || a.outcome == unknown: // if it has happened, it is refused when it is sent again
		return m
	case r.operation == readOrigin:
		m.value, m.asked = a.origin, true
		switch {
		case m.value == nil && m.known:
			m.ended, m.gone = true, m.imports > 0
		case m.value != nil && m.imports > 0 && *m.value == m.stored:
			m.ended = true
		}
		return m
	case a.outcome == done && r.operation == importBase:
		return importing{imports: r.imports + 1, stored: r.imported, ended: true, changed: true}
	}
	return importing{imports: a.base.imports, stored: a.base.imported, known: true}
}
