package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// entry is a combination of places, one of each index, with the part of writes that it has.
type entry struct {
	places []int
	part   float64
}

// maxProduct is how many combinations of places are told apart.
const maxProduct = 64

// placesOf returns how many places each index has.
func placesOf(t *scenario.Table) []int {
	counts := make([]int, len(t.Indexes))
	for i, x := range t.Indexes {
		counts[i] = x.Keys * x.Shards
	}
	return counts
}

// combinations returns the product of the counts, or something larger than maxProduct.
func combinations(counts []int) int {
	product := 1
	for _, n := range counts {
		product = min(product*n, maxProduct+1)
	}
	return product
}

// entryCount returns how many entries there are at most.
func entryCount(counts []int) int {
	if product := combinations(counts); product <= maxProduct {
		return product
	}
	most := 1
	for _, n := range counts {
		most += n - 1
	}
	return max(most, maxProduct)
}

// entries returns combinations of places such that each place of an index gets the same part of writes. If there are few, all
// of them are there. If there are many, some stand for all: several times, each index is laid out as a row of its places in
// random order, and a combination is what lies above each other.
func entries(counts []int, random *rand.Rand) []entry {
	product := combinations(counts)
	if product > maxProduct {
		list := row(counts, random)
		times := max(maxProduct/len(list), 1)
		for range times - 1 {
			list = append(list, row(counts, random)...)
		}
		for i := range list {
			list[i].part /= float64(times)
		}
		return list
	}
	list := make([]entry, product)
	for i := range list {
		rest := i
		for _, n := range counts {
			list[i].places = append(list[i].places, rest%n)
			rest /= n
		}
		list[i].part = 1 / float64(product)
	}
	return list
}

// row returns the combinations of places that lie above each other if each index is a row of its places.
func row(counts []int, random *rand.Rand) []entry {
	var ends []float64
	orders := make([][]int, len(counts))
	for i, n := range counts {
		orders[i] = random.Perm(n)
		for place := range n {
			ends = append(ends, float64(place+1)/float64(n))
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	list := make([]entry, len(ends))
	begin := 0.0
	for i, end := range ends {
		middle := (begin + end) / 2
		for index, n := range counts {
			list[i].places = append(list[i].places, orders[index][min(int(middle*float64(n)), n-1)])
		}
		list[i].part = end - begin
		begin = end
	}
	return list
}
