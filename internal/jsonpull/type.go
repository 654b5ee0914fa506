package jsonpull

import "fmt"

// Kind is what a JSON value is, true apart from false and integers apart from
// numbers with a fraction or an exponent.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	False
	True
	Integer
	Decimal
	String
	Array
	Object
)

// Shape is what a reader can expect of a value.
type Shape uint8

// The shapes. AWS distinguishes, in its words about a wrong value, members of a
// structure from elements of a list or map.
const (
	Scalar      Shape = iota // a string, number or boolean
	Blob                     // a string of base64
	List                     // an array
	Map                      // an object with any names
	Struct                   // an object with known names
	ElementList              // a List in a list or map
	ElementMap               // a Map in a list or map
	Element                  // a Struct in a list or map
)

// Type is what a reader expects a value to be.
type Type struct {
	Shape Shape

	// Class is the service's own name for the type; of a map, for the type of
	// its values.
	Class string
}

// TypeError is the error of a value that is not of the type its reader
// expected.
type TypeError struct {
	Found  Kind
	Wanted *Type
	Offset int // of the value, in bytes
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("wrong type of value at byte %d", e.Offset)
}
