//go:build !race

package bubble

func oneProcessor() (restore func()) { return func() {} }
