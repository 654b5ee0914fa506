package main

import (
	"context"
	"os"

	"github.com/heatsink-go/heatsink/internal/peer"
)

// engineNames in the order of the report. The first is what the others are compared with.
var engineNames = []string{"heatsink", "dynoxide", "dynalite", "dynamodb-local", "empty"}

// findEngine makes the named engine ready to be started: built into dir, downloaded, or looked up among the npm packages
// in peers.
func findEngine(ctx context.Context, name, peers, dir string) (peer.Engine, error) {
	switch name {
	case "heatsink":
		return peer.Heatsink(ctx, dir)
	case "dynoxide":
		return peer.DynoxideEngine(ctx, "")
	case "dynalite":
		return peer.Dynalite(peers)
	case "dynamodb-local":
		return peer.DynamoDBLocal(ctx, "")
	case "empty":
		self, err := os.Executable()
		return peer.Engine{
			Name: name,
			Argv: func(port string) []string { return []string{self, emptyCommand, "127.0.0.1:" + port} },
		}, err
	}
	panic("no such engine: " + name)
}
