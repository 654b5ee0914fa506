package bins

import "math"

// PageItems returns how many items a read asks of each of n shards for a list of so many items: the smallest page with
// which all shards together hold the list, in 19 of 20 reads.
//
//	n × P[Bin(items, 1/n) > k] ≤ 5 %
func PageItems(items, n int) int {
	if n <= 1 || items <= 1 {
		return max(items, 1)
	}
	if items > 1<<20 { // a bound will do
		mean := float64(items) / float64(n)
		return int(mean + math.Sqrt(2*mean*math.Log(float64(n)/0.05)) + 1)
	}
	chance := make([]float64, items+1)
	newFactorials(items).binomial(items, 1/float64(n)).each(func(k int, p float64) { chance[k] = p })
	tail := 0.0
	for k := items; k > 0; k-- {
		if tail += chance[k]; float64(n)*tail > 0.05 {
			return k
		}
	}
	return 1
}
