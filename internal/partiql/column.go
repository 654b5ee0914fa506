package partiql

import (
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// Projection returns what a SELECT selects; nil: everything.
func (s *Statement) Projection() (*expr.Projection, error) {
	if s.columns == nil {
		return nil, nil
	}
	t := translator{builder: new(expr.Builder)}
	names := map[string]bool{}
	columns := make([]expr.Column, len(s.columns))
	for i, c := range s.columns {
		name := c.path.column()
		if names[name] {
			return nil, attr.Faultf("Duplicate identifiers in select clause: %s", name)
		}
		names[name] = true
		columns[i] = expr.Column{Name: name, Path: t.path(c.path)}
	}
	return t.builder.Columns(columns)
}
