//go:build !unix

package heat_test

import "time"

var begun = time.Now()

// processorTime stands for the processors' time where the system does not tell it: the time of day.
func processorTime() time.Duration { return time.Since(begun) }
