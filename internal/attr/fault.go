package attr

import "fmt"

// Fault is what is wrong with a value or an expression, in the words DynamoDB
// uses. The engine answers it as a ValidationException.
type Fault string

// Faultf formats a Fault.
func Faultf(format string, args ...any) error { return Fault(fmt.Sprintf(format, args...)) }

func (f Fault) Error() string { return string(f) }
