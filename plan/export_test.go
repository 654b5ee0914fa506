package plan

// What the tests of the documentation and of the library compare with.
var (
	Shards       = shardsFor
	Conservative = conservativeShards
	Generous     = generousShards
	UpperBound   = upperBound
	WriteUnits   = writeUnitsOf
)
