package heat

import "fmt"

// notBetween is the error of a field whose value is out of range.
func notBetween(field string, value, least, most any) error {
	return fmt.Errorf("%s is %v: it must be between %v and %v", field, value, least, most)
}

// isNegative is the error of a field whose value is negative.
func isNegative(field string, value any) error {
	return fmt.Errorf("%s is %v: it must not be negative", field, value)
}
