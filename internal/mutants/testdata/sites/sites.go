// Package sites has a break in every kind of place that mutants knows. Its tests notice all of them.
package sites

// Most is a constant: a break of it is built alone.
const Most = 3

// Primes is a variable of the package.
var Primes = []int{2, 3}

// Sum is generic.
func Sum[T int | float64](of ...T) (sum T) {
	for _, one := range of {
		sum += one
	}
	return
}

// A Counter has a method without a result.
type Counter struct{ n int }

// Add adds one.
func (c *Counter) Add() { c.n++ }

// Find has a label, and results that are named and shadowed.
func Find(rows [][]int, wanted int) (row int, ok bool) {
rows:
	for i, columns := range rows {
		for _, n := range columns {
			if n == wanted {
				row, ok = i, true
				break rows
			}
		}
	}
	return row, ok
}
