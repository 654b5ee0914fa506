package corpus

import (
	"fmt"
	"math/rand/v2"

	"github.com/heatsink-go/heatsink/heat"
)

// Examples returns the examples of the documents that the project began with, and what became of a hot key and of its neighbour.
func Examples() []Case {
	var all []Case
	for _, brands := range []int{5, 13, 41} {
		all = append(all, threeHotSpots(brands))
	}
	return append(all,
		traffic("003: STATUS 85, 10 and 5 %", []Want{{fewValues, heat.Warning, "STATUS#ACTIVE"}},
			Stream{Key: "STATUS#ACTIVE", PerSecond: 85}, Stream{Key: "STATUS#BANNED", PerSecond: 10}, Stream{Key: "STATUS#NEW", PerSecond: 5}),
		traffic("003: four even statuses", nil,
			Stream{Key: "STATUS#ACTIVE", PerSecond: 25}, Stream{Key: "STATUS#BANNED", PerSecond: 25},
			Stream{Key: "STATUS#NEW", PerSecond: 25}, Stream{Key: "STATUS#PENDING", PerSecond: 25}),
		traffic("003: four even regions", nil,
			Stream{Key: "REGION#us-east-1", PerSecond: 25}, Stream{Key: "REGION#eu-west-1", PerSecond: 25},
			Stream{Key: "REGION#ap-south-1", PerSecond: 25}, Stream{Key: "REGION#sa-east-1", PerSecond: 25}),
		traffic("003: a viral post", []Want{{oneOfMany, heat.Critical, "POST#12345"}},
			Stream{Key: "POST#12345", PerSecond: 1000}, Stream{Key: "POST#12346", PerSecond: 5}, Stream{Key: "POST#777", PerSecond: 5}),
		traffic("a full partition of three keys", []Want{{[]heat.Kind{heat.HotPartition}, heat.Critical, "ORDER#1"}},
			Stream{Key: "ORDER#1", PerSecond: 385, Refused: 0.15}, Stream{Key: "ORDER#2", PerSecond: 350, Refused: 0.15},
			Stream{Key: "ORDER#3", PerSecond: 330, Refused: 0.15}),
		traffic("a post in the partition of a viral one", []Want{
			{oneOfMany, heat.Critical, "POST#12345"}, {[]heat.Kind{heat.HotPartition}, heat.Warning, "POST#777"},
		},
			Stream{Key: "POST#12345", PerSecond: 1500, Refused: 0.45}, Stream{Key: "POST#777", PerSecond: 300, Refused: 0.45},
			Stream{Key: "POST#12346", PerSecond: 5}, Stream{Key: "POST#9", PerSecond: 5}),
		traffic("a log by day, spread", nil, spreadOver("AUDIT#2026-06-22", 8, 180)...),
		traffic("a queue by status, of which one value is spread", nil,
			append(spreadOver("OPEN", 8, 170), Stream{Key: "PENDING", PerSecond: 190})...),
	)
}

// spreadOver is the traffic of a key in so many shards, as a plan proposes them: the first is the bare key.
func spreadOver(key string, shards int, each float64) []Stream {
	all := []Stream{{Key: key, PerSecond: each}}
	for i := 1; i < shards; i++ {
		all = append(all, Stream{Key: fmt.Sprintf("%s#SHARD_%d", key, i), PerSecond: each})
	}
	return all
}

// threeHotSpots is the table of document 001: 700 items and more, under a log, a list of brands, and brands of which one is
// attacked.
func threeHotSpots(brands int) Case {
	r := rand.New(rand.NewPCG(1, uint64(brands)))
	c := Case{Schema: fmt.Sprintf("001: three hot spots, %d brands", brands), Table: "app"}
	c.Piles = []Pile{{"OPS_LOG", 250}, {"BRAND_INDEX", 150}}
	for i, id := range distinct(brands, brand, r) {
		pile := Pile{"THREAT#" + id, 3 + r.IntN(5)}
		if i == 0 {
			pile.Items = 210
			c.Want = append(c.Want, Want{oneOfMany, heat.Warning, pile.Key})
		}
		c.Piles = append(c.Piles, pile)
	}
	c.Want = append(c.Want, Want{fewValues, heat.Warning, "OPS_LOG"}, Want{fewValues, heat.Warning, "BRAND_INDEX"})
	return c
}

func traffic(name string, want []Want, streams ...Stream) Case {
	for i := range streams {
		streams[i].Units, streams[i].Items = 1, 200
	}
	return Case{Schema: name, Table: "app", Seconds: 30, Streams: streams, Want: want}
}
