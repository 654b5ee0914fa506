package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

// onPeer makes keys grow by hand while processes write and read them, on dynoxide.
func onPeer(ctx context.Context, p *proof) (err error) {
	program, err := peer.Dynoxide(ctx, "")
	if errors.Is(err, errors.ErrUnsupported) {
		p.Skip("growth on dynoxide", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	server, err := peer.Serve(ctx, peer.DynoxideArgs(program))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	is := membership{URL: "http://" + server.Addr, Mode: adaptive, PerSecond: 40}
	if err := createTable(ctx, clientOf(is.URL)); err != nil {
		return err
	}
	operator, err := is.collection(nil)
	if err != nil {
		return err
	}
	f, err := newFleet(is, 3)
	if err != nil {
		return err
	}
	defer f.kill()
	for _, width := range []int{1, 4, 8, rollTo, 32} {
		if err := growAll(ctx, operator, width, fleetKeys); err != nil {
			return err
		}
		if err := sleep(ctx, 4*time.Second); err != nil {
			return err
		}
	}
	if err := f.end(); err != nil {
		return err
	}
	a, acks := f.account(fleetKeep)
	if err := a.readBack(ctx, operator, acks); err != nil {
		return err
	}
	p.Tell("the engine", fmt.Sprintf("dynoxide %s; keys grow from 1 to 32 shards, %d items acknowledged", peer.DynoxideVersion, a.acked))
	p.accountOf("dynoxide: ", a)
	return nil
}
