package place

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item or a key as the AWS SDK has it.
type Item = map[string]types.AttributeValue

// Schema says how a collection is stored: which attributes are keys, how these are spread, and what an item's shard and
// bucket are worked out from. Its fields are those of heatsink.Options with the same names, which Options has checked.
// Make one with New; it does not change from then on.
type Schema struct {
	Keys
	Spread
	ShardBy   []string // default: the table's key if there is an index, else the sort key
	EventTime EventTime

	// Beside are the attributes that tell items of the same key apart, which New finds out.
	Beside Beside
}

// New returns a schema with its defaults.
func New(s Schema) *Schema {
	if len(s.ShardBy) == 0 {
		switch {
		case s.Index != "":
			s.ShardBy = s.TableKey
		case s.SortKey != "":
			s.ShardBy = []string{s.SortKey}
		}
	}
	if s.calculates() {
		key := s.KeyNames()
		s.Beside = slices.DeleteFunc(slices.Clone(s.ShardBy), func(name string) bool { return slices.Contains(key[:], name) })
	}
	return &s
}

// FirstSuffix returns what the stored key of shard 0 has behind key and bucket.
func (s *Schema) FirstSuffix() string {
	own := s.Layout
	if s.Adaptive() {
		own.Shards = max(own.Shards, 1)
	}
	if s.ShardAttribute != "" || own.Shards == 0 {
		return ""
	}
	return own.Suffix(0)
}
