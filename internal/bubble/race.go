//go:build race

package bubble

import (
	"runtime"
	"sync"
)

// processors counts the bubbles that run beside each other: the last one gives the processors back.
var processors struct {
	sync.Mutex
	bubbles int
	before  int
}

func oneProcessor() (restore func()) {
	processors.Lock()
	defer processors.Unlock()
	if processors.bubbles == 0 {
		processors.before = runtime.GOMAXPROCS(1)
	}
	processors.bubbles++
	return func() {
		processors.Lock()
		defer processors.Unlock()
		processors.bubbles--
		if processors.bubbles == 0 {
			runtime.GOMAXPROCS(processors.before)
		}
	}
}
