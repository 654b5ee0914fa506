// Command fetch downloads the peer engine that tests run against, unless it is there. `make deps` runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	path, err := peer.Dynoxide(ctx, "")
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		fmt.Println(err)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		fmt.Println(path)
	}
}
