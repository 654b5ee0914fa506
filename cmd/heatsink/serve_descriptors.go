package main

import (
	"fmt"
	"log/slog"
)

// descriptors is how the file descriptors that the process may have are shared.
type descriptors struct {
	limit int // 0: unknown
	conns int // connections at a time; 0: as many as the server thinks right
	store int // files that the store keeps open; 0: as many as it thinks right
}

const (
	// ownDescriptors are for the listener, the lock, the terminal, and a few
	// connections that are about to end.
	ownDescriptors = 24
	// A store needs a few for files that it is writing, and others for files that
	// it keeps open. With less than that it does not work.
	storeWriting  = 32
	storeLeast    = 74
	storeMost     = 1000
	leastConns    = 8
	mostConns     = 1024
	fewConns      = 128
	ulimitAdvice  = "raise the limit with ulimit -n, or with LimitNOFILE in systemd"
	plentyOfFiles = 1 << 20
)

// shareDescriptors shares descriptors out between connections and, with a
// directory, the store. A limit of 0 is unknown.
func shareDescriptors(limit int, dir bool) (descriptors, error) {
	if limit == 0 {
		return descriptors{}, nil
	}
	d := descriptors{limit: limit}
	left := min(limit, plentyOfFiles) - ownDescriptors
	if dir {
		d.store = min(max(left/4, storeLeast), storeMost)
		left -= d.store + storeWriting
	}
	if left < leastConns {
		return d, fmt.Errorf("serve: the process may open %d files, but needs at least %d: %s", limit, limit+leastConns-left, ulimitAdvice)
	}
	d.conns = min(left, mostConns)
	return d, nil
}

// warn logs that clients may have to wait, if there are so few descriptors.
func (d descriptors) warn(logger *slog.Logger) {
	if d.limit > 0 && d.conns < fewConns {
		logger.Warn("the limit of open files is low: clients beyond maxConnections have to wait; "+ulimitAdvice,
			"limit", d.limit, "maxConnections", d.conns)
	}
}
