package store

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStoreRunsInABubble(t *testing.T) {
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			s, err := Open(Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 1000 {
				b := s.NewBatch()
				b.Set(RecordKey(1, uint64(i)), make([]byte, 100_000))
				if err := b.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
