// Package attempt tells those who see a request on its way, such as heat's recorder, which attempt it is. To them every
// attempt of internal/dispatch looks like a request of its own.
package attempt

import "context"

type key struct{}

// With returns a context for the nth attempt at a request. The first needs none: it is what a context without a mark is.
func With(ctx context.Context, n int) context.Context { return context.WithValue(ctx, key{}, n) }

// Of returns which attempt a context is for, the first being 1.
func Of(ctx context.Context) int {
	if n, ok := ctx.Value(key{}).(int); ok {
		return n
	}
	return 1
}
