package main
import "context"
func soakTest(ctx context.Context, p *proof) error { return nil }
