package heat

// Threshold selects keys for a list: those above any of its limits. The zero value is 100 requests.
type Threshold struct {
	Requests int64   // more requests than this
	Share    float64 // a larger share than this, 0 to 1
	Rate     float64 // more units a second than this
}

// Above returns the keys of a flow that are certainly above a threshold, hottest first. It is for lists; Explain finds
// problems, since a count without a time or a share means little.
func (f *Flow) Above(t Threshold) []KeyHeat {
	if t == (Threshold{}) {
		t.Requests = 100
	}
	var keys []KeyHeat
	for _, k := range f.Keys {
		if t.Requests > 0 && k.Requests > t.Requests || t.Share > 0 && k.Share > t.Share || t.Rate > 0 && max(k.RateLow, k.Second) > t.Rate {
			keys = append(keys, k)
		}
	}
	return keys
}
