package main

import "slices"

// spans are numbers, as the first and the last of each run: 1, 2, 3 and 7 are [1 3 7 7].
type spans []int

// spansOf returns the spans of numbers in any order, and how many of them are there again.
func spansOf(numbers []int) (s spans, again int) {
	slices.Sort(numbers)
	for i, n := range numbers {
		switch last := len(s) - 1; {
		case i > 0 && n == numbers[i-1]:
			again++
		case last > 0 && s[last] == n-1:
			s[last] = n
		default:
			s = append(s, n, n)
		}
	}
	return s, again
}

// has reports whether a number is among them.
func (s spans) has(n int) bool {
	i, found := slices.BinarySearch(s, n) // at an even index a span begins, at an odd one it ends
	return found || i%2 == 1
}
