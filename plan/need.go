package plan

// Need is how much a table needs sharding.
type Need string

// The needs, the least first.
const (
	NeedNot       Need = "not needed" // the traffic is moderate, or already well spread
	NeedEssential Need = "essential"  // some of many keys are too hot
	NeedCritical  Need = "critical"   // few keys take all the traffic
)

const (
	manyKeys   = 1_000     // "thousands of users"
	hugeLoad   = 1_000_000 // "millions of requests a second"
	busyOnMean = 100       // requests a second of the average key: a tenth of a partition's limit
)

// needOf judges a table by its requests a second, the number of its keys and the share of the hottest one. Millions of
// requests for thousands of users make sharding essential, even if no key is above the limit yet. Thousands of requests
// for few items make it critical. Moderate, well spread traffic does not need it. A share of 0 means equal shares. limit is what one partition serves a second.
func needOf(requestsPerSecond float64, keys int, share, limit float64) Need {
	keys = max(keys, 1)
	even := 1 / float64(keys)
	share = max(share, even)
	hot := requestsPerSecond*share > limit
	switch {
	case hot && keys < manyKeys:
		return NeedCritical
	case hot, keys >= manyKeys && requestsPerSecond >= hugeLoad && requestsPerSecond*even >= busyOnMean:
		return NeedEssential
	}
	return NeedNot
}
