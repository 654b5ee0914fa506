package sites

import (
	"slices"
	"testing"
)

func TestMost(t *testing.T) {
	if Most != 3 {
		t.Error(Most)
	}
}

func TestPrimes(t *testing.T) {
	if !slices.Equal(Primes, []int{2, 3}) {
		t.Error(Primes)
	}
}

func TestSum(t *testing.T) {
	if sum := Sum(1, 2); sum != 3 {
		t.Error(sum)
	}
}

func TestAdd(t *testing.T) {
	var c Counter
	if c.Add(); c.n != 1 {
		t.Error(c.n)
	}
}

func TestFind(t *testing.T) {
	rows := [][]int{{1}, {2, 3}, {2}}
	if row, ok := Find(rows, 2); row != 1 || !ok {
		t.Error(row, ok)
	}
	if row, ok := Find(rows, 4); row != 0 || ok {
		t.Error(row, ok)
	}
}
