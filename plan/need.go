package plan

// Plan.Need is how much a table needs its hottest keys to be spread, the least first.
const (
	NeedNot       = "not needed" // the traffic is moderate, or well spread already
	NeedEssential = "essential"  // so much traffic that some of many keys are too hot
	NeedCritical  = "critical"   // few keys have to bear it all
)

const (
	manyKeys   = 1_000     // "thousands of users"
	hugeLoad   = 1_000_000 // "millions of requests a second"
	busyOnMean = 100       // requests a second of the average key: a tenth of what one can bear
)

// needOf judges a table by its requests a second, the number of its keys and the share of the requests that the hottest
// one has. Millions of requests over thousands of users make it essential, even if none of them is above the limit yet;
// thousands of requests on few items make it critical; moderate traffic, well spread, does not need it. A share that is
// not positive means that all keys have the same.
func needOf(requestsPerSecond float64, keys int, share float64) string {
	keys = max(keys, 1)
	even := 1 / float64(keys)
	share = max(share, even)
	hot := requestsPerSecond*share > PartitionWrites
	switch {
	case hot && keys < manyKeys:
		return NeedCritical
	case hot, keys >= manyKeys && requestsPerSecond >= hugeLoad && requestsPerSecond*even >= busyOnMean:
		return NeedEssential
	}
	return NeedNot
}
