//go:build !unix

package scale

import "time"

// processorTime is the time that passes, where the system does not tell more.
func processorTime() time.Duration { return wallTime() }
