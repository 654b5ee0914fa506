//go:build race

package heat_test

// droppedByPools is how many more allocations a recorded call may make because the race detector has pools drop things.
const droppedByPools = 6
