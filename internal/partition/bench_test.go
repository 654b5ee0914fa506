package partition

import (
	"encoding/binary"
	"testing"
	"time"
)

var epoch = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newTestAccount returns an account, or fails.
func newTestAccount(t testing.TB, o Options) *Account {
	t.Helper()
	a, err := NewAccount(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newTestSet returns a set that starts at epoch.
func newTestSet(t testing.TB, a *Account, c Config) *Set {
	t.Helper()
	s, err := a.NewSet(epoch, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near reports whether a figure is within a share of what is expected.
func near(got, want, share float64) bool { return got >= want*(1-share) && got <= want*(1+share) }

// spread64 scatters small numbers over all hashes.
func spread64(i uint64) uint64 { return i * 0x9e3779b97f4a7c15 }

func benchPlaces(n int) [][]byte {
	places := make([][]byte, n)
	for i := range places {
		places[i] = append(binary.BigEndian.AppendUint64(nil, spread64(uint64(i))), "user-12345#2026-11-15"...)
	}
	return places
}

func BenchmarkAdmit(b *testing.B) {
	// A clock of 10 microseconds per request: 100,000 a second over many
	// partitions, so that nothing is throttled.
	config := Config{Partitions: 256}
	unlimited := Options{TableQuota: Rate{-1, -1}}
	places := benchPlaces(1024)

	b.Run("put", func(b *testing.B) {
		s := newTestSet(b, newTestAccount(b, unlimited), config)
		now, n := epoch, 0
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(10 * time.Microsecond)
			n++
			if Admit(now, Charge{Set: s, Place: places[n%1024], Write: 1, Bytes: 1}) != nil {
				b.Fatal("throttled")
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		s := newTestSet(b, newTestAccount(b, unlimited), config)
		now, n := epoch, 0
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(10 * time.Microsecond)
			n++
			if Admit(now, Charge{Set: s, Place: places[n%1024], Read: 0.5, Eventual: true}) != nil {
				b.Fatal("throttled")
			}
		}
	})
	b.Run("put with 3 indexes", func(b *testing.B) {
		a := newTestAccount(b, unlimited)
		var sets [4]*Set
		for i := range sets {
			sets[i] = newTestSet(b, a, config)
		}
		now, n := epoch, 0
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(10 * time.Microsecond)
			n++
			place := places[n%1024]
			if Admit(now, Charge{Set: sets[0], Place: place, Write: 1}, Charge{Set: sets[1], Place: place, Write: 1},
				Charge{Set: sets[2], Place: place, Write: 1}, Charge{Set: sets[3], Place: place, Write: 1}) != nil {
				b.Fatal("throttled")
			}
		}
	})
	b.Run("throttled", func(b *testing.B) {
		s := newTestSet(b, newTestAccount(b, Options{NoSplits: true}), Config{Partitions: 4})
		now := epoch
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(10 * time.Microsecond)
			_ = Admit(now, Charge{Set: s, Place: places[0], Write: 1})
		}
	})
	b.Run("in parallel", func(b *testing.B) {
		s := newTestSet(b, newTestAccount(b, unlimited), config)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				_ = Admit(time.Now(), Charge{Set: s, Place: places[n%1024], Write: 0.001})
			}
		})
	})
}
