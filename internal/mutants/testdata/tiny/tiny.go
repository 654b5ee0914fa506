// Package tiny is broken by the tests of mutants. Its own tests notice some breaks and not others.
package tiny

import "errors"

// Limit is tested at 10 and at 11.
func Limit(n int) error {
	if n > 10 {
		return errors.New("too many")
	}
	return nil
}

// Untested is not called by any test.
func Untested(n int) int {
	return n + 1
}

// Same has a break that changes nothing: nobody reads what is assigned.
func Same() int {
	n := 0
	n = 0
	return n
}
