package wire

import (
	"net"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// What comes when there is no place left takes the place of another that is of
// less use, or waits.
func TestWhoIsDisplaced(t *testing.T) {
	type given struct {
		state  int32
		proven bool
		age    time.Duration
	}
	for _, c := range []struct {
		name  string
		links []given
		gone  int // -1: none
	}{
		{"the oldest that never asked", []given{{stateActive, false, time.Hour}, {stateIdle, true, time.Hour}, {stateNew, false, 2 * freshTime}, {stateNew, false, freshTime}}, 2},
		{"one that was refused", []given{{stateIdle, false, 2 * freshTime}, {stateNew, false, freshTime}}, 0},
		{"the oldest that does not get through", []given{{stateIdle, true, time.Hour}, {stateActive, false, 3 * time.Second}, {stateActive, false, time.Hour}}, 1},
		{"authenticated, idle longest", []given{{stateActive, true, time.Hour}, {stateIdle, true, 6 * time.Second}, {stateIdle, true, 7 * time.Second}}, 2},
		{"none that is fresh", []given{{stateNew, false, freshTime - 1}, {stateIdle, true, time.Hour}}, -1},
		{"none that is authenticated beside strangers", []given{{stateIdle, true, time.Hour}, {stateActive, false, time.Second}}, -1},
		{"none", []given{{stateActive, true, time.Hour}, {stateIdle, true, time.Second}, {stateActive, false, time.Second}}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				time.Sleep(24 * time.Hour)
				s := &Server{}
				l := newLinks(len(c.links))
				var ends []net.Conn
				var all []*link
				for _, g := range c.links {
					ours, theirs := net.Pipe()
					k := newLink(s, ours)
					k.state.Store(g.state)
					k.proven.Store(g.proven)
					k.since.Store(time.Now().Add(-g.age).UnixNano())
					if !l.enter(k, nil) {
						t.Fatal("no place")
					}
					all, ends = append(all, k), append(ends, theirs)
				}
				l.displace(time.Now())
				for i, end := range ends {
					_ = end.SetReadDeadline(time.Now().Add(time.Second))
					_, err := end.Read(make([]byte, 1))
					ne, timeout := err.(net.Error)
					if gone := !(timeout && ne.Timeout()); gone != (i == c.gone) {
						t.Errorf("connection %d is gone: %v (%v)", i, gone, err)
					}
				}
				// Another waits until a place is free, or all is over.
				closed, entered := make(chan struct{}), make(chan bool, 1)
				for _, k := range all { // nobody can be displaced any more
					k.proven.Store(true)
					k.state.Store(stateActive)
				}
				another := newLink(s, nil)
				another.proven.Store(true)
				another.state.Store(stateActive)
				go func() { entered <- l.enter(another, closed) }()
				time.Sleep(time.Minute)
				if len(entered) != 0 {
					t.Fatal("it did not wait")
				}
				l.leave(all[0])
				if !<-entered {
					t.Error("it did not enter")
				}
				go func() { entered <- l.enter(newLink(s, nil), closed) }()
				time.Sleep(time.Minute)
				close(closed)
				if <-entered {
					t.Error("it entered what is closed")
				}
			})
		})
	}
}
