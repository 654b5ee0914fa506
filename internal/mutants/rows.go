package main

import (
	"context"
	"io"
)

func breakRows(ctx context.Context, o options, ids []string, stdout io.Writer) (int, error) {
	return 0, nil
}
