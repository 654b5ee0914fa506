package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// benchKey scatters numbers over the key space, as hashes do.
func benchKey(dst []byte, n uint64) []byte {
	dst = AppendIndex(dst, 1, BaseIndex)
	dst = binary.BigEndian.AppendUint64(dst, n*0x9E3779B97F4A7C15)
	return append(dst, "partition key and sort key"...)
}

func BenchmarkStore(b *testing.B) {
	for _, size := range []uint64{10_000, 1_000_000} {
		s, err := Open(context.Background(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		value := make([]byte, 200)
		for i := range value {
			value[i] = byte(rand.Uint32())
		}
		write := func(n uint64) {
			batch := s.NewBatch()
			batch.Set(benchKey(nil, n), value)
			if err := batch.Commit(); err != nil {
				b.Fatal(err)
			}
		}
		for n := range size {
			write(n)
		}
		get := func(b *testing.B, want bool, number func() uint64) {
			b.ReportAllocs()
			var key, value []byte
			for b.Loop() {
				var found bool
				key = benchKey(key[:0], number())
				if value, found, err = s.Get(value[:0], key); err != nil || found != want {
					b.Fatal(found, err)
				}
			}
		}
		b.Run(fmt.Sprintf("get/items=%d", size), func(b *testing.B) {
			get(b, true, func() uint64 { return rand.Uint64N(size) })
		})
		b.Run(fmt.Sprintf("miss/items=%d", size), func(b *testing.B) {
			get(b, false, func() uint64 { return size + rand.Uint64N(1<<40) })
		})
		b.Run(fmt.Sprintf("range50/items=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				it, err := s.Read(Range{benchKey(nil, rand.Uint64N(size)), After(AppendIndex(nil, 1, BaseIndex))})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for ok := it.First(); ok && n < 50; ok = it.Next() {
					n += len(it.Value()) / len(value)
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("put/items=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(rand.Uint64N(size))
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHotKey reads a range with one key in it that was written many times.
func BenchmarkHotKey(b *testing.B) {
	for _, writes := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprintf("writes=%d", writes), func(b *testing.B) {
			s, err := Open(context.Background(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			key := benchKey(nil, 1)
			for range writes {
				batch := s.NewBatch()
				batch.Set(key, make([]byte, 100))
				if err := batch.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				it, err := s.Read(Range{key, After(key)})
				if err != nil {
					b.Fatal(err)
				}
				if !it.First() || it.Next() {
					b.Fatal("not one key")
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkDeletedKeys reads a range that many keys were put into and deleted
// from. The first reads, which find that out, are not counted.
func BenchmarkDeletedKeys(b *testing.B) {
	for _, keys := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s, err := Open(context.Background(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			r := putAndDelete(b, s, keys)
			readEmpty(b, s, r)
			time.Sleep(time.Second) // a flush and a compaction
			for b.Loop() {
				readEmpty(b, s, r)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// putAndDelete puts keys into a range and deletes them all.
func putAndDelete(tb testing.TB, s *Store, keys int) Range {
	tb.Helper()
	prefix := benchKey(nil, 1)
	key := func(n int) []byte { return binary.BigEndian.AppendUint64(prefix[:len(prefix):len(prefix)], uint64(n)) }
	for _, write := range []func(b *Batch, n int){
		func(b *Batch, n int) { b.Set(key(n), make([]byte, 100)) },
		func(b *Batch, n int) { b.Delete(key(n)) },
	} {
		for n := range keys {
			batch := s.NewBatch()
			write(batch, n)
			if err := batch.Commit(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return Range{prefix, After(prefix)}
}

// readEmpty reads a range with nothing in it, and returns what it passed.
func readEmpty(tb testing.TB, s *Store, r Range) (dead int) {
	tb.Helper()
	it, err := s.Read(r)
	if err != nil {
		tb.Fatal(err)
	}
	if it.First() {
		tb.Fatalf("there is %q", it.Key())
	}
	_, dead = it.steps()
	if err := it.Close(); err != nil {
		tb.Fatal(err)
	}
	return dead
}

// BenchmarkCount writes to a directory on a disk in memory, with and without a
// tally.
func BenchmarkCount(b *testing.B) {
	for _, counted := range []bool{false, true} {
		b.Run(fmt.Sprintf("counted=%t", counted), func(b *testing.B) {
			s, err := Open(context.Background(), Options{Dir: b.TempDir(), FS: vfs.NewMem()})
			if err != nil {
				b.Fatal(err)
			}
			value := make([]byte, 200)
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				batch := s.NewBatch()
				batch.Set(benchKey(nil, n), value)
				if counted {
					batch.Count(1, BaseIndex, Tally{1, 200})
				}
				if err := batch.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
