package heat_test

import (
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// capacityChange is a report before and a report after a change of capacity.
type capacityChange struct {
	name          string
	before, after heat.Report
}

func capacityChanges() []capacityChange {
	// hour is ten minutes of a table at noon and some hours, with a capacity, and so many units and throttles a second.
	hour := func(at int, capacity int64, units float64, throttles int64, reason string) heat.Report {
		from := noon.Add(time.Duration(at) * time.Hour)
		return heat.Report{Source: heat.Stream, From: from, To: from.Add(10 * time.Minute), Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "orders"}, Key: []string{"pk"}, Capacity: &heat.Capacity{WriteUnits: capacity, ReadUnits: 10},
			Writes: heat.Flow{
				Units: 600 * units, Requests: 600_000, Throttled: 600 * throttles,
				Throttles: []heat.ThrottleCount{{Reason: reason, Count: 600 * throttles}},
			},
		}}}
	}
	before := hour(0, 1000, 900, 10, keyRange)
	reads := func(r heat.Report) heat.Report {
		r.Resources[0].Reads, r.Resources[0].Writes = r.Resources[0].Writes, heat.Flow{}
		r.Resources[0].Capacity = &heat.Capacity{ReadUnits: r.Resources[0].Capacity.WriteUnits, WriteUnits: 10}
		return r
	}
	mixed := func(r heat.Report, counts ...heat.ThrottleCount) heat.Report {
		w := &r.Resources[0].Writes
		w.Throttled, w.Throttles = 0, counts
		for _, c := range counts {
			w.Throttled += c.Count
		}
		return r
	}
	// later is of the same recorder as before, some minutes on.
	later := func(minutes int, capacity int64, units, throttles float64) heat.Report {
		r := hour(0, capacity, 0, 0, keyRange)
		r.To = r.To.Add(time.Duration(minutes) * time.Minute)
		w := &r.Resources[0].Writes
		w.Units, w.Throttled = 600*900+60*float64(minutes)*units, 6000+int64(60*float64(minutes)*throttles)
		w.Throttles = []heat.ThrottleCount{{Reason: keyRange, Count: w.Throttled}}
		return r
	}
	busy := func(r heat.Report, at time.Duration, units float64) heat.Report {
		r.Resources[0].Writes.Trend = []heat.Point{{From: r.From.Add(at), For: time.Minute, Units: 60 * units}}
		return r
	}
	return []capacityChange{
		{"as many throttles", before, hour(1, 2000, 900, 10, keyRange)},
		{"of reads", reads(hour(0, 1000, 900, 10, readKeyRange)), reads(hour(1, 2000, 900, 10, readKeyRange))},
		{"20 % more capacity", before, hour(1, 1200, 900, 10, keyRange)},
		{"less than 20 % more", before, hour(1, 1199, 900, 10, keyRange)},
		{"80 % of the throttles", before, hour(1, 2000, 900, 8, keyRange)},
		{"less than 80 %", before, hour(1, 2000, 900, 7, keyRange)},
		{"no throttles before", hour(0, 1000, 900, 0, keyRange), hour(1, 2000, 900, 10, keyRange)},
		{"an unknown capacity before", hour(0, 0, 900, 10, keyRange), hour(1, 2000, 900, 10, keyRange)},
		{"the lower capacity serves it just so", before, hour(1, 2000, 1000, 10, keyRange)},
		{"the lower capacity would not serve it", before, hour(1, 2000, 1001, 10, keyRange)},
		{"nor in the busiest minute", before, busy(hour(1, 2000, 900, 10, keyRange), 0, 1001)},
		{"a minute from before", before, busy(hour(1, 2000, 900, 10, keyRange), -time.Second, 1001)},
		{"a peak that CloudWatch shows", before, but(hour(1, 2000, 900, 10, keyRange), func(r *heat.Report) {
			r.Source, r.Resources[0].Writes.Peak = heat.CloudWatch, 1001
		})},
		{"a peak of another source", before, but(hour(1, 2000, 900, 10, keyRange), func(r *heat.Report) { r.Resources[0].Writes.Peak = 1001 })},
		{"for an unknown reason", hour(0, 1000, 900, 10, ""), hour(1, 2000, 900, 10, "")},
		{"for the table's limit", hour(0, 1000, 900, 10, provisioned), hour(1, 2000, 900, 10, provisioned)},
		{"for the account's limit", hour(0, 1000, 900, 10, "TableWriteAccountLimitExceeded"), hour(1, 2000, 900, 10, "TableWriteAccountLimitExceeded")},
		{"for the on-demand maximum", hour(0, 1000, 900, 10, "TableWriteMaxOnDemandThroughputExceeded"), hour(1, 2000, 900, 10, "TableWriteMaxOnDemandThroughputExceeded")},
		{"for several reasons", before, mixed(hour(1, 2000, 900, 0, ""),
			heat.ThrottleCount{Reason: keyRange, Count: 4800}, heat.ThrottleCount{Reason: provisioned, Count: 9000}, heat.ThrottleCount{Count: 600})},
		{"of one recorder", before, later(5, 2000, 900, 10)},
		{"of one recorder, and better since", before, later(5, 2000, 900, 7)},
		{"of one recorder, and served since", before, later(5, 2000, 1001, 10)},
		{"of one recorder, busy since", before, busy(later(5, 2000, 900, 10), 10*time.Minute, 1001)},
		{"of one recorder, busy before", before, busy(later(5, 2000, 900, 10), 9*time.Minute, 1001)},
		{"the same report", before, but(hour(0, 1000, 900, 10, keyRange), func(r *heat.Report) { r.Resources[0].Capacity.WriteUnits = 2000 })},
		{"of another table", before, but(hour(1, 2000, 900, 10, keyRange), func(r *heat.Report) { r.Resources[0].Table = "others" })},
	}
}
