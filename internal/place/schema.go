package place

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item or a key in the form of the AWS SDK.
type Item = map[string]types.AttributeValue

// Schema is how a collection is stored: its key attributes, how keys are spread, and what determines an item's shard and
// bucket. Its fields are those of heatsink.Options with the same names, which Options has checked. Create one with New;
// it does not change afterwards.
type Schema struct {
	Keys
	Spread
	ShardBy   []string // default: the table's key if there is an index, else the sort key
	EventTime EventTime

	// Beside are the attributes that distinguish items with the same key. New sets it.
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

// FirstSuffix returns the suffix of shard 0 after the key and the bucket.
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
