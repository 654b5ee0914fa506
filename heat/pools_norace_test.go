//go:build !race

package heat_test

const droppedByPools = 0
