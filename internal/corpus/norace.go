//go:build !race

package corpus

const every = 1
