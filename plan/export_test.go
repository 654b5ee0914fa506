package plan

// What the tests of the documentation and of the library compare with.
var (
	Conservative  = conservativeShards
	Generous      = generousShards
	MaxThroughput = maxThroughput
	WriteUnits    = writeUnitsOf
)
