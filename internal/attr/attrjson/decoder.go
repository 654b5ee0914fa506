// Package attrjson reads and writes attribute values as DynamoDB's protocol has
// them: JSON objects whose one member names the type, such as {"N":"12"}.
//
// It is apart from package attr so that a program that only uses the library
// does not link a JSON codec.
package attrjson

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

// maxLevels is how deep values may nest, the attribute itself being level one.
const maxLevels = 32

// How large what is read may be, in bytes.
const (
	maxItemSize   = 400 << 10
	maxValuesSize = 2 << 20

	// valueOverhead is what each value counts besides its size among those of
	// expressions: as much as lets any value through that fits into an item.
	valueOverhead = 4
)

// fewFields is how many attributes are kept of whatever item. No key has more.
const fewFields = 32

// What can be wrong with a value whose JSON is right. The texts are DynamoDB's.
const (
	errEmptyValue     = attr.Fault("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	errSeveralTypes   = attr.Fault("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	ErrNullFalse      = attr.Fault("One or more parameter values were invalid: Null attribute value types must have the value of true")
	errEmptySS        = attr.Fault("One or more parameter values were invalid: An string set  may not be empty")
	errEmptyNS        = attr.Fault("One or more parameter values were invalid: An number set  may not be empty")
	errEmptyBS        = attr.Fault("One or more parameter values were invalid: Binary sets should not be empty")
	errNullElement    = attr.Fault("One or more parameter values were invalid: An string set  may not have a null string as a member")
	errDuplicateNS    = attr.Fault("Input collection contains duplicates")
	newDuplicateNS    = attr.Fault("One or more parameter values were invalid: Input collection contains duplicates.")
	newNumberEmpty    = attr.ErrNumberEmpty + ": "
	ErrTooManyLevels  = attr.Fault("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
	errItemSize       = attr.Fault("Item size has exceeded the maximum allowed size")
	ErrValuesSize     = attr.Fault("ExpressionAttributeValues exceeds max size")
	formatDuplicateSS = "One or more parameter values were invalid: Input collection [%s] contains duplicates."
	formatDuplicateBS = "One or more parameter values were invalid: Input collection [%s]of type BS contains duplicates."
)

// IsNumeric reports whether a fault is one of numbers, or of a set that has an
// element twice. DynamoDB tells them in the same words wherever they are.
func IsNumeric(fault error) bool {
	switch text := fault.Error(); fault {
	case attr.ErrNumberOverflow, attr.ErrNumberUnderflow, attr.ErrNumberDigits, errDuplicateNS, errEmptyNS:
		return true
	default:
		return strings.Contains(text, "contains duplicates") || strings.HasPrefix(text, "The parameter cannot be converted to a numeric value")
	}
}

// Malformed is the error of JSON that does not stand for what it should, in
// AWS's words. AWS answers it as a SerializationException.
type Malformed string

func (m Malformed) Error() string { return string(m) }

// The types of DynamoDB's attribute values, in AWS's words.
const valueClass = "com.amazonaws.dynamodb.v20120810.AttributeValue"

var (
	// ItemType is an item that is a member of a request.
	ItemType = jsonpull.Type{Shape: jsonpull.Map, Class: valueClass}
	// ElementItemType is an item in a list.
	ElementItemType = jsonpull.Type{Shape: jsonpull.ElementMap, Class: valueClass}

	valueType  = jsonpull.Type{Shape: jsonpull.Element, Class: valueClass}
	memberType = jsonpull.Type{Shape: jsonpull.Struct, Class: valueClass}
	binaryType = jsonpull.Type{Shape: jsonpull.Blob, Class: "java.nio.ByteBuffer"}
	listType   = jsonpull.Type{Shape: jsonpull.List}
)

// Decoder reads attribute values from JSON. A value that is JSON of the right
// types but not valid for DynamoDB does not stop it: the first such fault is
// kept, and what was at fault reads as a value of the same kind if it has one.
// After a fault, and of an item that is too large already, no more is kept than
// a few attributes: three bytes of JSON make a Value, and a request full of them
// should not fill the memory. What is kept of such an item is too large itself,
// and that is for others to find, who know what is more important; or else it
// is a fault.
type Decoder struct {
	jsonpull.Decoder

	// Fault is the first fault found, and FaultName the attribute it was found
	// in, if it was in an item.
	Fault     error
	FaultName string

	// Narrow is set while numbers must have exponents of 32 bits: in parameters of statements, BatchWriteItem,
	// transactions and Scan.
	Narrow bool
	// InAction is set while an action of a transaction is read. There an attribute without a name is told before a value
	// that is too deep, and that before a name within a value, whichever comes first.
	InAction bool
	// NewWords is set for operations that tell faults of numbers and sets in AWS's newer words.
	NewWords bool

	innerName bool // Fault is about a name within a value

	// What is being read, each level on top of the one it is in. A level is
	// copied out once its length is known.
	fields []attr.Field
	values []attr.Value
	order  []int

	// The size of what is being read, at most as large as Size would have it,
	// and the size from which on nothing more is kept.
	size, limit, overhead int
}

// Reset makes the Decoder read text, without a fault.
func (d *Decoder) Reset(text string) {
	d.Decoder.Reset(text)
	d.Fault, d.FaultName, d.Narrow, d.InAction, d.NewWords = nil, "", false, false, false
	d.fields, d.values, d.order = reuse(d.fields), reuse(d.values), reuse(d.order)
}

// reuse empties a stack, and lets go of one that has become large.
func reuse[E any](stack []E) []E {
	if cap(stack) > 256 {
		return nil
	}
	return stack[:0]
}

func (d *Decoder) fault(err error) {
	if d.Fault == nil {
		d.Fault, d.innerName = err, false
	}
}

// Forget forgets the fault, for another part of a request that has its own.
func (d *Decoder) Forget() { d.Fault, d.innerName = nil, false }

// nameFault notes a name that no attribute can have.
func (d *Decoder) nameFault(err error, level int) {
	if d.InAction && level == 1 && (d.Fault == ErrTooManyLevels || d.innerName) {
		d.Fault = nil
	}
	if d.Fault == nil {
		d.Fault, d.innerName = err, level > 1
	}
}

func (d *Decoder) tooDeep() {
	if d.InAction && d.innerName {
		d.Fault = nil
	}
	d.fault(ErrTooManyLevels)
}

// Item reads an item.
func (d *Decoder) Item(t *jsonpull.Type) attr.Item {
	d.begin(maxItemSize+1, 0) // an attribute without a name counts one too many
	it := d.item(t, 1)
	if d.size > d.limit && it.Size() <= maxItemSize { // of attributes that came twice
		d.fault(errItemSize)
	}
	return it
}

// Values reads the values that expressions refer to, which together may be
// larger than an item.
func (d *Decoder) Values(t *jsonpull.Type) attr.Item {
	d.begin(maxValuesSize, valueOverhead)
	it := d.item(t, 1)
	if d.size > d.limit {
		d.fault(ErrValuesSize)
	}
	return it
}

// Value reads a value.
func (d *Decoder) Value() attr.Value {
	d.begin(maxItemSize, 0)
	v := d.value(1)
	if d.size > d.limit && v.Size() <= maxItemSize {
		d.fault(errItemSize)
	}
	return v
}

// MemberValue is Value for one that is a member of a structure, whose type is
// told in other words if it is wrong.
func (d *Decoder) MemberValue() attr.Value {
	d.begin(maxItemSize, 0)
	v := d.valueOf(&memberType, 1)
	if d.size > d.limit && v.Size() <= maxItemSize {
		d.fault(errItemSize)
	}
	return v
}

func (d *Decoder) begin(limit, overhead int) {
	d.size, d.limit, d.overhead = 0, limit, overhead
}

// full reports whether nothing more needs to be kept. Who asks does so before
// reading a value: the one that goes beyond the limit is kept.
func (d *Decoder) full() bool { return d.Fault != nil || d.size > d.limit }

// count adds a value's share of the size, without that of its elements.
func (d *Decoder) count(v *attr.Value) {
	switch v.Kind {
	case attr.S, attr.B:
		d.size += len(v.Str)
	case attr.N:
		d.size += max(1, len(v.Str)-2) // the digits, for the least that they count
	case attr.L, attr.M:
		d.size += 3
	case attr.Null, attr.Bool:
		d.size++
	default: // a set is its elements
		return
	}
	d.size += d.overhead
}

func (d *Decoder) item(t *jsonpull.Type, level int) attr.Item {
	base := len(d.fields)
	sorted := true
	for name := range d.Entries(t) {
		full := d.full()
		if d.size += len(name); level > 1 || name == "" {
			d.size++
		}
		faultless := d.Fault == nil
		if (name == "" || len(name) > attr.MaxName) && (level > 1 || d.overhead == 0) { // else it is a placeholder
			d.nameFault(attr.CheckName(name), level)
		}
		v := d.value(level)
		if faultless && d.Fault != nil {
			d.FaultName = name // outermost last
		}
		if full && (level > 1 || len(d.fields)-base >= fewFields) {
			continue
		}
		sorted = sorted && (len(d.fields) == base || d.fields[len(d.fields)-1].Name < name)
		d.fields = append(d.fields, attr.Field{Name: name, Value: v})
	}
	read := d.fields[base:]
	it := make(attr.Item, len(read))
	if sorted {
		copy(it, read)
	} else {
		it = d.sort(it, read)
	}
	clear(read)
	d.fields = d.fields[:base]
	return it
}

// sort copies the fields in the order of their names, moving each only once.
// Of fields with the same name the last one stands.
func (d *Decoder) sort(dst attr.Item, fields []attr.Field) attr.Item {
	d.order = d.order[:0]
	for i := range fields {
		d.order = append(d.order, i)
	}
	slices.SortFunc(d.order, func(i, j int) int {
		return cmp.Or(strings.Compare(fields[i].Name, fields[j].Name), i-j)
	})
	n := 0
	for k, i := range d.order {
		if k+1 < len(d.order) && fields[d.order[k+1]].Name == fields[i].Name {
			continue
		}
		dst[n] = fields[i]
		n++
	}
	return dst[:n]
}

// drop removes the values from base on.
func (d *Decoder) drop(base int) {
	clear(d.values[base:])
	d.values = d.values[:base]
}

func (d *Decoder) value(level int) attr.Value { return d.valueOf(&valueType, level) }

func (d *Decoder) valueOf(t *jsonpull.Type, level int) (v attr.Value) {
	if level > maxLevels {
		d.tooDeep()
		d.Skip()
		return attr.Value{Kind: attr.Null}
	}
	// Nearly all values look like this.
	if kind, text, ok := d.Single("SN"); ok {
		if v = attr.String(text); kind == 'N' {
			v = d.number(text)
		}
		d.count(&v)
		return v
	}
	var seen uint16 // a bit for each kind
	for name := range d.Members(t) {
		switch name {
		case "S":
			v = attr.String(d.Text())
		case "N":
			v = d.number(d.Text())
		case "B":
			v = attr.Binary(d.binary())
		case "BOOL":
			v = attr.Boolean(d.Bool())
		case "NULL":
			if v = (attr.Value{Kind: attr.Null}); !d.Bool() {
				d.fault(ErrNullFalse)
			}
		case "SS":
			v = d.set(attr.SS)
		case "NS":
			v = d.set(attr.NS)
		case "BS":
			v = d.set(attr.BS)
		case "L":
			base := len(d.values)
			for range d.Elements(&listType) {
				full := d.full()
				d.size++
				if elem := d.value(level + 1); !full {
					d.values = append(d.values, elem)
				}
			}
			v = attr.List(slices.Clone(d.values[base:])...)
			d.drop(base)
		case "M":
			v = attr.Map(d.item(&ItemType, level+1))
		default:
			d.Skip()
			continue
		}
		seen |= 1 << v.Kind
		d.count(&v)
	}
	switch {
	case seen == 0:
		d.fault(errEmptyValue)
	case seen&(seen-1) != 0:
		d.fault(errSeveralTypes)
	}
	return v
}

func (d *Decoder) number(text string) attr.Value {
	n, err := attr.ParseNumber(text)
	if err != nil {
		if d.Narrow {
			err = narrowFault(text, err)
		}
		if d.NewWords && err == attr.ErrNumberEmpty {
			err = newNumberEmpty
		}
		d.fault(err)
		n = attr.Zero
	}
	return attr.Num(n)
}

// narrowFault is what is wrong with a number where DynamoDB reads its exponent as a
// 32-bit integer, and takes the number for small where adding its digits to that
// overflows.
func narrowFault(text string, fault error) error {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	if !ok {
		return fault
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil || int64(len(fraction))-n > 1<<31-1 {
		return attr.Faultf("The parameter cannot be converted to a numeric value: %s", text)
	}
	if fault == attr.ErrNumberOverflow && int64(len(strings.TrimLeft(whole, "+-0")))+n > 1<<31-1 {
		return attr.ErrNumberUnderflow
	}
	return fault
}

// binary reads the bytes that a string of base64 stands for.
func (d *Decoder) binary() string {
	text := d.TextOf(&binaryType)
	if len(text)%4 != 0 {
		d.Fail(Malformed(fmt.Sprintf("Base64 encoded length is expected a multiple of 4 bytes but found: %d", len(text))))
		return ""
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which Go ignores
		d.Fail(Malformed("Invalid last non-pad Base64 character dectected"))
	}
	return string(b)
}

func (d *Decoder) set(kind attr.Kind) attr.Value {
	base, empty := len(d.values), true
	repeated := 0 // what an element without bytes counts: no set has two
	for range d.Elements(&listType) {
		full := d.full()
		empty = false
		if d.Null() {
			d.fault(errNullElement)
			continue
		}
		var elem attr.Value
		switch kind {
		case attr.SS:
			elem = attr.String(d.Text())
		case attr.NS:
			elem = d.number(d.Text())
		case attr.BS:
			elem = attr.Binary(d.binary())
		}
		d.count(&elem)
		if elem.Str == "" {
			d.size += repeated
			repeated = 1
		}
		if !full {
			d.values = append(d.values, elem)
		}
	}
	defer d.drop(base)
	given := d.values[base:]
	if empty {
		d.fault(emptySet(kind))
		return attr.Value{Kind: kind}
	}
	set := attr.Set(kind, slices.Clone(given))
	if len(set.List) < len(given) {
		d.fault(d.duplicates(kind, given))
	}
	return set
}

func emptySet(kind attr.Kind) error {
	switch kind {
	case attr.NS:
		return errEmptyNS
	case attr.BS:
		return errEmptyBS
	default:
		return errEmptySS
	}
}

func (d *Decoder) duplicates(kind attr.Kind, given []attr.Value) error {
	switch {
	case d.NewWords:
		return newDuplicates(kind, given)
	case kind == attr.NS:
		return errDuplicateNS
	}
	texts, format := make([]string, len(given)), formatDuplicateSS
	for i, v := range given {
		texts[i] = v.Str
		if kind == attr.BS {
			texts[i], format = base64.StdEncoding.EncodeToString([]byte(v.Str)), formatDuplicateBS
		}
	}
	return attr.Faultf(format, strings.Join(texts, ", "))
}

// newDuplicates tells an element that is there twice in the newer words. They list
// what comes before it in order, and quote the elements.
func newDuplicates(kind attr.Kind, given []attr.Value) error {
	if kind == attr.NS {
		return newDuplicateNS
	}
	texts, seen := make([]string, len(given)), make(map[string]bool)
	for i, v := range given {
		texts[i] = v.Str
		if seen[v.Str] && len(seen) == i {
			slices.Sort(texts[:i])
		}
		seen[v.Str] = true
	}
	format, separator := formatDuplicateSS, ", "
	if kind == attr.BS {
		format, separator = formatDuplicateBS, ","
	}
	for i := range texts {
		if kind == attr.BS {
			texts[i] = base64.StdEncoding.EncodeToString([]byte(texts[i]))
		}
		texts[i] = `"` + texts[i] + `"`
	}
	return attr.Faultf(format, strings.Join(texts, separator))
}
