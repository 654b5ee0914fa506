package layout

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var allHashes = []Hash{XXHash, FNV, CRC32, MD5, Product}

// Sums published for each function.
func TestHashVectors(t *testing.T) {
	for _, c := range []struct {
		hash Hash
		id   string
		sum  uint64
	}{
		{XXHash, "", 0xef46db3751d8e999},
		{XXHash, "a", 0xd24ec4f1a98c6e5b},
		{XXHash, "abc", 0x44bc2cf5ad770999},
		{FNV, "", 0xcbf29ce484222325},
		{FNV, "a", 0xaf63dc4c8601ec8c},
		{FNV, "foobar", 0x85944171f73967e8},
		{CRC32, "", 0},
		{CRC32, "123456789", 0xcbf43926},
	} {
		for _, shards := range []int{1, 2, 10, 200, 1 << 16, 1 << 31} {
			if got, want := c.hash.Shard(c.id, shards), int(c.sum%uint64(shards)); got != want {
				t.Errorf("%s of %q over %d: got %d, want %d", c.hash, c.id, shards, got, want)
			}
		}
	}
}

// 004-08: the digest is one number of 128 bits.
func TestMD5Vectors(t *testing.T) {
	for id, want := range map[string]int{"event-67890": 9, "event-1": 5, "event-2": 3, "user-12345": 5, "": 6} {
		if got := MD5.Shard(id, 10); got != want {
			t.Errorf("%q: got %d, want %d", id, got, want)
		}
	}
}

// X28, 002-03: code points, not bytes, and counted from one.
func TestProductVectors(t *testing.T) {
	l := Layout{Shards: 200, Strategy: Calculated, Hash: Product, Format: DotFromOne()}
	for id, want := range map[string]int{
		"": 2, "A": 66, "77": 26, "abc": 95, "13579": 146, "a1b2c3": 101, "ORD-1001": 121, "12345": 1, "order-1": 1, "é": 34,
	} {
		if got := l.Shard(id) + 1; got != want {
			t.Errorf("%q: got %d, want %d", id, got, want)
		}
		if got, _ := l.ShardKey("2014-07-09", instant("2014-07-09"), l.Shard(id)); got != fmt.Sprintf("2014-07-09.%d", want) {
			t.Errorf("%q: got %s, want number %d", id, got, want)
		}
	}
	if got, want := Product.Shard("a\xffb", 1000), 0x61*0xfffd*0x62%1000; got != want {
		t.Errorf("invalid UTF-8: got %d, want %d", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		id, shards := rapid.String().Draw(t, "id"), rapid.IntRange(1, 1<<62).Draw(t, "shards")
		product := big.NewInt(1)
		for _, r := range id {
			product.Mul(product, big.NewInt(int64(r)))
		}
		if got, want := Product.Shard(id, shards), product.Mod(product, big.NewInt(int64(shards))).Int64(); int64(got) != want {
			t.Fatalf("%q over %d: got %d, want %d", id, shards, got, want)
		}
	})
}

func TestHashProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(allHashes).Draw(t, "hash")
		id := string(rapid.SliceOf(rapid.Byte()).Draw(t, "id"))
		n := rapid.IntRange(1, MaxShards/2).Draw(t, "shards")
		got := h.Shard(id, n)
		if got < 0 || got >= n {
			t.Fatalf("%s: got shard %d of %d", h, got, n)
		}
		if again := h.Shard(strings.Clone(id), n); again != got {
			t.Fatalf("%s: got shard %d, then %d", h, got, again)
		}
		if twice := h.Shard(id, 2*n); twice%n != got {
			t.Fatalf("%s: shard %d of %d became %d of %d", h, got, n, twice, 2*n)
		}
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(id))
		if got, want := FNV.Shard(id, n), int(sum.Sum64()%uint64(n)); got != want {
			t.Fatalf("fnv: got %d, want %d", got, want)
		}
	})
	for _, h := range allHashes {
		for _, shards := range []int{-1, 0, 1} {
			if got := h.Shard("id", shards); got != 0 {
				t.Errorf("%s over %d: got %d, want 0", h, shards, got)
			}
		}
	}
}

func TestHashAllocatesNothing(t *testing.T) {
	for _, h := range allHashes {
		for _, id := range []string{"", "order-1", strings.Repeat("é", 1000)} {
			if got := testing.AllocsPerRun(100, func() { h.Shard(id, 10) }); got != 0 {
				t.Errorf("%s of %d bytes: got %v allocations, want 0", h, len(id), got)
			}
		}
	}
}

// uuids returns n random UUIDs of version 4.
func uuids(seed uint64, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		for range n {
			a, b := r.Uint64(), r.Uint64()
			id := fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffff_ffff_ffff)
			if !yield(id) {
				return
			}
		}
	}
}

// numbered returns n ids that differ in a counter, as "order-%05d" makes them.
func numbered(format string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf(format, i)) {
				return
			}
		}
	}
}

// 002-05, X28: evenness is measured. The product rule fails, and the others have less than 0.7 % in any of 200 shards.
func TestHashEvenness(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		name    string
		ids     iter.Seq[string]
		counter bool // where FNV is not random enough, see TestFNVIsUnevenOnCounters
	}{
		{"UUIDs", uuids(1, n), false},
		{"order-%05d", numbered("order-%05d", n), true},
		{"%d", numbered("%d", n), true},
		{"%08d", numbered("%08d", n), true},
	} {
		for _, h := range allHashes {
			e := Layout{Shards: 200, Strategy: Calculated, Hash: h}.Evenness(c.ids)
			t.Logf("%s, %s: %s", c.name, h, e)
			switch {
			case h == Product:
				if !e.Skewed() || e.LargestShare < 0.3 {
					t.Errorf("%s, %s: got %s, want it skewed", c.name, h, e)
				}
			case e.LargestShare >= 0.007:
				t.Errorf("%s, %s: got %s, want less than 0.7%%", c.name, h, e)
			case e.Skewed() && (h != FNV || !c.counter):
				t.Errorf("%s, %s: got %s, want it even", c.name, h, e)
			}
		}
	}
	if e := (Layout{Shards: 200, Hash: Product}).Evenness(uuids(2, n)); e.Counts[0] != n {
		t.Errorf("the product of UUIDs: got %d in the first shard, want all %d", e.Counts[0], n)
	}
}

// The warning in FNV's comment, at a number of shards where it shows.
func TestFNVIsUnevenOnCounters(t *testing.T) {
	ids := numbered("user%d", 100_000)
	for _, h := range []Hash{XXHash, CRC32, MD5, FNV} {
		e := Layout{Shards: 1000, Strategy: Calculated, Hash: h}.Evenness(ids)
		t.Logf("%s: %s", h, e)
		if got, want := e.Skewed(), h == FNV; got != want {
			t.Errorf("%s: got skewed %v, want %v: %s", h, got, want, e)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	const id = "0b5a3f6e-9d3c-4a52-8a3e-0d1f6f0f8f3a"
	for _, h := range allHashes {
		b.Run(h.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.Shard(id, 200)
			}
		})
	}
}
