package attr

// MaxName is how many bytes an attribute's name may have, in an item or in a map.
const MaxName = 65535

// What can be wrong with a name. The texts are DynamoDB's.
const (
	errEmptyName = Fault("Empty attribute name")
	errLongName  = Fault("Attribute name is too large, must be less than 65536 bytes")
)

// CheckName returns what is wrong with an attribute's name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errEmptyName
	case len(name) > MaxName:
		return errLongName
	}
	return nil
}
