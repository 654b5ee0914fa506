package heat

// Threshold is from when on a key is worth listing: it is above any of those that are set. The zero value is 100 requests.
type Threshold struct {
	Requests int64   // more than so many
	Share    float64 // more than this part of all, 0 to 1
	Rate     float64 // more than so many units a second
}

// Above returns the keys of a flow that are surely above a threshold, hottest first. It is for lists; what is a problem is
// Explain's to say: a count without a time or a share means little.
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
