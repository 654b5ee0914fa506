package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// The size of a measurement. A round is short, so that what else the machine does hits both kinds alike.
const (
	priceTries   = 5
	priceRounds  = 100
	pricePuts    = 200 // of a round
	priceWorkers = 4
)

// price compares Puts of cold keys with the bare SDK's, on a server that is another process. What must hold is the throughput of
// workers that wait for their answers, as those of a service do. How much processor time heatsink adds is told besides: on a
// server that takes no time, that is all that counts.
func price(ctx context.Context, p *proof) error {
	best, spread, err := priceOn(ctx, coldService, coldPutRatio)
	if err != nil {
		return err
	}
	p.Must(fmt.Sprintf("throughput of Puts of cold keys, of the bare SDK's, on a server that takes %v", coldService), fmt.Sprintf("%.3f", best), fmt.Sprintf(">= %.2f", coldPutRatio), best >= coldPutRatio)
	p.Tell(fmt.Sprintf("the median of %d pairs of rounds, in each measurement", priceRounds), strings.Join(spread, "; "))
	_, spread, err = priceOn(ctx, 0, 0)
	if err != nil {
		return err
	}
	p.Tell("the same on a server that takes no time, so that processors are the limit", spread[0])
	return nil
}

// priceOn measures until enough is reached, a few times at most. It returns the best median, and all of them.
func priceOn(ctx context.Context, after time.Duration, enough float64) (best float64, spread []string, err error) {
	url, stop, err := startServer(ctx, after)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	client := clientOf(url)
	items, err := heatsink.Open[heatsink.Item](client, heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{}})
	if err != nil {
		return 0, nil, err
	}
	var number atomic.Int64
	next := func() heatsink.Item {
		n := number.Add(1)
		return heatsink.Item{"pk": text(fmt.Sprintf("key %d", n%coldKeys)), "sk": text(fmt.Sprintf("%010d", n)), "body": text(body1K)}
	}
	bare := func(ctx context.Context) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: next()})
		return err
	}
	ours := func(ctx context.Context) error {
		_, err := items.Put(ctx, next())
		return err
	}
	for range priceTries {
		ratios, err := compare(ctx, ours, bare)
		if err != nil {
			return 0, nil, err
		}
		median := ratios[len(ratios)/2]
		spread = append(spread, fmt.Sprintf("%.3f (quartiles %.3f to %.3f)", median, ratios[len(ratios)/4], ratios[len(ratios)*3/4]))
		if best = max(best, median); best >= enough {
			break
		}
	}
	return best, spread, nil
}

var body1K = strings.Repeat("x", 900)

// compare runs rounds of two kinds of requests in turn. It returns how many times as fast the first kind was in each pair, in
// ascending order.
func compare(ctx context.Context, a, b func(context.Context) error) ([]float64, error) {
	ratios := make([]float64, 0, priceRounds)
	for i := range priceRounds + 5 {
		order := []func(context.Context) error{a, b}
		swap := rand.IntN(2) == 1 // which is first in a pair says nothing then
		if swap {
			slices.Reverse(order)
		}
		var took [2]time.Duration
		for i, do := range order {
			var err error
			if took[i], err = round(ctx, do); err != nil {
				return nil, err
			}
		}
		if swap {
			took[0], took[1] = took[1], took[0]
		}
		if i >= 5 { // the first ones warm up
			ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
		}
	}
	slices.Sort(ratios)
	return ratios, nil
}

// round sends requests with several workers, and returns how long that took.
func round(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	var workers sync.WaitGroup
	failed := make([]error, priceWorkers)
	began := time.Now()
	for w := range priceWorkers {
		workers.Go(func() {
			for range pricePuts / priceWorkers {
				if err := do(ctx); err != nil {
					failed[w] = err
					return
				}
			}
		})
	}
	workers.Wait()
	return time.Since(began), errors.Join(failed...)
}

// startServer starts a server process and returns its address.
func startServer(ctx context.Context, after time.Duration) (url string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, serverMode, after.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		return cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the server says nothing: %w", err), stop())
	}
	return strings.TrimSpace(line), stop, nil
}
