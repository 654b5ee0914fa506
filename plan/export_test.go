package plan

// What the tests of the documentation and of the library compare with.
var (
	Shards       = dynamoDB.shardsFor
	Conservative = dynamoDB.conservativeShards
	Generous     = dynamoDB.generousShards
	UpperBound   = upperBound
	WriteUnits   = writeUnitsOf
	ShortWords   = shortWords
)
