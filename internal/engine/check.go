package engine

import (
	"errors"
	"iter"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

const (
	maxItemSize = 400 << 10
	maxHashKey  = 2048
	maxSortKey  = 1024
)

func errItemSize() *Error { return invalid("Item size has exceeded the maximum allowed size") }

func errUpdateSize() *Error {
	return invalid("Item size to update has exceeded the maximum allowed size")
}

// asError turns a fault of a value or expression into the exception that answers
// it. Other errors, and nil, stay what they are.
func asError(err error) error {
	var fault attr.Fault
	if errors.As(err, &fault) {
		return invalid("%s", string(fault))
	}
	return err
}

// checkReferred checks that there are expressions for the names and values that a
// request has. without names those that could have used values.
func (x *Expressions) checkReferred(without string) error {
	values := x.Condition != nil || x.Filter != nil || x.KeyCondition != nil || x.Update != nil
	if x.HasNames && !values && x.Projection == nil {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if x.HasValues && !values {
		return invalid("ExpressionAttributeValues can only be specified when using expressions: %s", without)
	}
	return nil
}

// scope returns what the request's expressions refer to.
func (x *Expressions) scope(without string) (*expr.Scope, error) {
	if err := x.checkReferred(without); err != nil {
		return nil, err
	}
	var names map[string]string
	if x.HasNames {
		names = x.Names
		if names == nil {
			names = map[string]string{}
		}
	}
	var vals attr.Item
	if x.HasValues {
		vals = x.Values
		if vals == nil {
			vals = attr.Item{}
		}
	}
	s := expr.NewScope(names, vals)
	return s, asError(s.Validate())
}

// checkKey checks that an item is the key of some item of the table: the key
// attributes, with the right types, and no others.
func (t *table) checkKey(key attr.Item) error {
	if len(key) != len(t.keys.parts) {
		return errKeySchema()
	}
	for _, p := range t.keys.parts {
		if key.Get(p.Name).Kind != p.Kind {
			return errKeySchema()
		}
	}
	return t.checkKeyValues(key)
}

func errKeySchema() *Error { return invalid("The provided key element does not match the schema") }

// checkPaths checks the attributes that an expression refers to, each with whether
// the expression looks into it: keys are scalars, and there is nothing in them.
func (t *table) checkPaths(paths iter.Seq2[string, bool]) error {
	const scalars = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
	for name, nested := range paths {
		if !nested {
			continue
		}
		if t.keys.has(name) {
			return invalid(scalars+"Key: %s", name)
		}
		for _, x := range t.indexes {
			if x.keys.has(name) {
				return invalid(scalars+"IndexKey: %s", name)
			}
		}
	}
	return nil
}

// checkBatched checks the key of an item that a batch puts or deletes, of which
// the service does not tell what is wrong with it.
func (t *table) checkBatched(it attr.Item) error {
	for _, p := range t.keys.parts {
		if it.Get(p.Name).Kind != p.Kind {
			return errKeySchema()
		}
	}
	return nil
}

// checkItem checks an item that is put into the table.
func (t *table) checkItem(it attr.Item) error {
	for _, p := range t.keys.parts {
		switch v := it.Get(p.Name); v.Kind {
		case p.Kind:
		case attr.Invalid:
			return invalidParameter("Missing the key %s in the item", p.Name)
		default:
			return invalidParameter("Type mismatch for key %s expected: %s actual: %s", p.Name, p.Kind, v.Kind)
		}
	}
	for _, p := range t.keys.parts { // first the table's key, which may be a local index's as well
		if empty := emptyKey(it.Get(p.Name)); empty != "" {
			return errEmptyKey(empty, p.Name)
		}
	}
	for _, x := range t.indexes {
		if err := x.checkKeys(it); err != nil {
			return x.violated(err)
		}
	}
	return t.checkKeyValues(it)
}

// checkKeys checks the index's key attributes of an item that is put, as far as it
// has them.
func (x *index) checkKeys(it attr.Item) error {
	for i, p := range x.keys.parts {
		v := it.Get(p.Name)
		if v.Kind != attr.Invalid && v.Kind != p.Kind {
			return x.errKind(p, v.Kind)
		}
		if empty := emptyKey(v); empty != "" {
			return x.errEmptyKey(empty, p.Name)
		}
		if most := x.keys.most(i); v.Size() > most {
			return invalidParameter("Size limit exceeded for Index Key %s Actual Size: %d bytes Max Size: %d bytes IndexName: %s", p.Name, v.Size(), most, x.name)
		}
	}
	return x.checkKeySizes(it)
}

// violated returns what is answered to a write that the index cannot take: the
// service does not tell more while the index is being filled.
func (x *index) violated(err error) error {
	if x.filling {
		return invalidParameter("Schema violation against backfilling index")
	}
	return err
}

// checkAssigned checks the kinds of values that an update gives to keys of
// indexes, as far as the request tells them.
func (t *table) checkAssigned(u *expr.Update) error {
	for name, kind := range u.AssignedKinds() {
		for _, x := range t.indexes {
			for _, p := range x.keys.parts {
				if p.Name == name && p.Kind != kind {
					return x.violated(x.errKind(p, kind))
				}
			}
		}
	}
	return nil
}

// errKind is the error of a key attribute of another kind.
func (x *index) errKind(p expr.KeyPart, kind attr.Kind) *Error {
	return invalidParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", p.Name, p.Kind, kind, x.name)
}

// checkUpdated checks an item that an update expression made.
func (t *table) checkUpdated(it attr.Item) error {
	if depth(attr.Map(it)) > maxDepth {
		return invalid(tooDeep)
	}
	for _, x := range t.indexes {
		if err := x.checkUpdated(it); err != nil {
			return x.violated(err)
		}
	}
	return nil
}

// tooDeep is what is said of an item that an update makes too deep.
const tooDeep = "Nesting Levels have exceeded supported limits: Attributes have nested levels beyond supported limits"

// checkUpdated is checkKeys for an item that an update made. An item that is older
// than the index may fail it because of what the update leaves alone: it can only
// be replaced or deleted, as on the service.
func (x *index) checkUpdated(it attr.Item) error {
	for i, p := range x.keys.parts {
		v := it.Get(p.Name)
		if v.Kind != attr.Invalid && v.Kind != p.Kind {
			return invalid("The update expression attempted to update the secondary index key to unsupported type")
		}
		if empty := emptyKey(v); empty != "" {
			return errEmptyUpdate(empty)
		}
		if v.Size() > x.keys.most(i) {
			return errLargeUpdate()
		}
	}
	if x.checkKeySizes(it) != nil {
		return errLargeUpdate()
	}
	return nil
}

// errLargeUpdate is the error of an update that makes a key attribute of an index too large.
func errLargeUpdate() *Error {
	return invalid("The update expression attempted to update the secondary index key beyond allowed size limits")
}

// maxDepth is how deeply values may be nested, the item itself included.
const maxDepth = 32

// depth is how deeply values are nested in a value; scalars and sets are not.
func depth(v attr.Value) int {
	deepest := 0
	for _, e := range v.List {
		deepest = max(deepest, depth(e))
	}
	for _, f := range v.Map {
		deepest = max(deepest, depth(f.Value))
	}
	if v.Kind == attr.L || v.Kind == attr.M {
		deepest++
	}
	return deepest
}

// emptyKey says what kind of empty a key attribute is, if it is.
func emptyKey(v attr.Value) string {
	switch {
	case v.Kind == attr.S && v.Str == "":
		return "string"
	case v.Kind == attr.B && v.Str == "":
		return "binary"
	}
	return ""
}

func errEmptyKey(empty, name string) *Error {
	return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", empty, name)
}

func (x *index) errEmptyKey(empty, name string) *Error {
	return invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
		"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", empty, x.name, name)
}

// errEmptyUpdate is the error of an update that empties a key attribute of an index.
func errEmptyUpdate(empty string) *Error {
	return invalid("One or more parameter values are not valid. "+
		"The update expression attempted to update a secondary index key to a value that is not supported. "+
		"The AttributeValue for a key attribute cannot contain an empty %s value.", empty)
}

// checkEmptyKeys checks that a write of a transaction leaves no key attribute empty,
// as far as the request tells it. A value of another kind is another fault.
func (w *write) checkEmptyKeys(t *table) error {
	for _, p := range t.keys.parts {
		if v := w.item.Get(p.Name); v.Kind == p.Kind && emptyKey(v) != "" {
			return errEmptyKey(emptyKey(v), p.Name)
		}
	}
	for _, x := range t.indexes {
		if x.filling { // which tells nothing but that it is violated
			continue
		}
		for _, p := range x.keys.parts {
			if v := w.item.Get(p.Name); w.kind == put && v.Kind == p.Kind && emptyKey(v) != "" {
				return x.errEmptyKey(emptyKey(v), p.Name)
			}
			if v := w.assigned(p.Name); v.Kind == p.Kind && emptyKey(v) != "" && !t.keys.has(p.Name) {
				return errEmptyUpdate(emptyKey(v))
			}
		}
	}
	return nil
}

// assigned is the value of the request that an update gives the attribute, if it gives one.
func (w *write) assigned(name string) (v attr.Value) {
	if w.update == nil {
		return v
	}
	for to, value := range w.update.Assigned() {
		if to == name {
			v = value
		}
	}
	return v
}

// checkKeyValues checks the values of the table's key attributes.
func (t *table) checkKeyValues(it attr.Item) error {
	for _, p := range t.keys.parts {
		if empty := emptyKey(it.Get(p.Name)); empty != "" {
			return errEmptyKey(empty, p.Name)
		}
	}
	return t.keys.checkSizes(it)
}

func (k keySchema) checkSizes(it attr.Item) error {
	return checkSizes(keySize(k.hash, it), keySize(k.sort, it))
}

// checkSizes checks how many bytes the two parts of a key have.
func checkSizes(hash, sort int) error {
	if hash > maxHashKey {
		return invalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	}
	if sort > maxSortKey {
		return invalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
	}
	return nil
}

// most is the most bytes that the value of part i may have.
func (k keySchema) most(i int) int {
	if i < len(k.hash) {
		return maxHashKey
	}
	return maxSortKey
}

// checkKeySizes checks the sizes of keys of several attributes together.
func (x *index) checkKeySizes(it attr.Item) error {
	for _, p := range x.keys.parts {
		if it.Get(p.Name).Kind != p.Kind {
			return nil // the index does not hold it
		}
	}
	return x.keys.checkSizes(it)
}

func keySize(parts []expr.KeyPart, it attr.Item) int {
	size := 0
	for _, p := range parts {
		size += it.Get(p.Name).Size()
	}
	return size
}
