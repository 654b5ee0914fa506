package expr

import (
	"iter"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Projection is a ProjectionExpression: the parts of an item that are wanted.
type Projection struct {
	paths []path // sorted, none of them a part of another, unless there are columns
	arena arena

	columns []string // the names of what the paths lead to, for those of a statement
}

// ParseProjection reads a projection.
func ParseProjection(src string, s *Scope) (*Projection, error) {
	out := new(Projection)
	p, err := newParser(ProjectionExpression, src, s, &out.arena)
	if err != nil {
		return nil, err
	}
	paths := make([]path, 0, min(1+strings.Count(src, ","), 16))
	for {
		next, err := p.target()
		if err != nil {
			return nil, err
		}
		paths = append(paths, next)
		if p.tok.Kind != token.Comma {
			break
		}
		p.advance()
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	for _, steps := range paths {
		if err := p.pathShape(steps); err != nil {
			return nil, err
		}
	}
	for _, steps := range paths {
		if err := p.bindPath(steps); err != nil {
			return nil, err
		}
	}
	if err := checkDistinct(p.role, paths); err != nil {
		return nil, err
	}
	slices.SortFunc(paths, path.compare)
	out.paths = paths
	return out, nil
}

// ProjectAttributes returns the projection that AttributesToGet asks for, the
// parameter that ProjectionExpression replaced: whole attributes, whatever their
// names. No name may be there twice.
func ProjectAttributes(names []string) *Projection {
	out := new(Projection)
	for _, name := range names {
		out.paths = append(out.paths, out.arena.attributePath(name))
	}
	slices.SortFunc(out.paths, path.compare)
	return out
}

// Apply returns the wanted parts of an item, where they were: what a.b leads to
// is still in a map a. Elements of a list keep their order but close ranks. Maps
// and lists of which nothing is wanted, or nothing there, are left out.
// Columns of a statement are at the top, under their names.
func (p *Projection) Apply(it attr.Item) attr.Item {
	if p.columns == nil {
		return project(it, p.paths, 0)
	}
	fields := make([]attr.Field, 0, len(p.columns))
	for i, name := range p.columns {
		if v := p.paths[i].find(it); v != nil {
			fields = append(fields, attr.Field{Name: name, Value: *v})
		}
	}
	return attr.NewItem(fields...)
}

// TopLevelAttributes returns the attributes that are wanted, in order of their
// names or as a statement has them, each with whether only parts of it are. An attribute appears as often
// as it has such parts.
func (p *Projection) TopLevelAttributes() iter.Seq2[string, bool] {
	return topLevel(p.paths)
}

func topLevel(paths []path) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for _, p := range paths {
			if !yield(p[0].name, p.nested()) {
				return
			}
		}
	}
}

// project keeps the parts of an item, or of a map, that sorted paths lead to
// from their step number depth on.
func project(it attr.Item, paths []path, depth int) attr.Item {
	var out attr.Item
	for len(paths) > 0 {
		var group []path
		group, paths = sameStep(paths, depth)
		name := group[0][depth].name
		if v := field(it, name); v != nil {
			if part, ok := projectValue(v, group, depth+1); ok {
				out = append(out, attr.Field{Name: name, Value: part})
			}
		}
	}
	return out
}

// projectValue keeps the parts of a value; ok is false if nothing is left.
func projectValue(v *attr.Value, paths []path, depth int) (part attr.Value, ok bool) {
	if len(paths[0]) == depth {
		return *v, true
	}
	if !paths[0][depth].isIndex() {
		if v.Kind != attr.M {
			return attr.Value{}, false
		}
		fields := project(v.Map, paths, depth)
		return attr.Map(fields), len(fields) > 0
	}
	if v.Kind != attr.L {
		return attr.Value{}, false
	}
	var elems []attr.Value
	for len(paths) > 0 {
		var group []path
		group, paths = sameStep(paths, depth)
		if elem := group[0][depth].from(v); elem != nil {
			if part, ok := projectValue(elem, group, depth+1); ok {
				elems = append(elems, part)
			}
		}
	}
	return attr.List(elems...), len(elems) > 0
}
