// Package quote shows in an error message what somebody else wrote.
package quote

import "fmt"

// most is how many bytes of a text an error shows.
const most = 80

// Text quotes a text, shortened if it is long.
func Text(s string) string {
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
}
