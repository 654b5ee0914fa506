package pagetoken

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/sortkey/sortkeytest"
	"github.com/heatsink-go/heatsink/layout"
)

var tokenKeys = map[string][][]byte{"unsigned": nil, "signed": {[]byte("0123456789abcdef0123456789abcdef")}}

var firstDay = time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC)

// queryOf is a query with these fingerprints.
func queryOf(n uint64) Fingerprints { return Fingerprints{One: n, Many: n + 1} }

func drawPosition(t *rapid.T) Position {
	value := func(label string) sortkey.Value {
		v := sortkeytest.Draw(t, rapid.SampledFrom([]attr.Kind{attr.S, attr.N, attr.B}).Draw(t, "kind"), label)
		if v.Text == "" { // no key is
			v.Text = "a"
		}
		return v
	}
	p := Position{Width: rapid.IntRange(0, layout.MaxShards).Draw(t, "width"), Ordinal: NewOrdinal(rapid.IntRange(0, MaxOlder).Draw(t, "layout"), rapid.IntRange(0, layout.MaxShards-1).Draw(t, "shard"))}
	if rapid.Bool().Draw(t, "buckets") {
		bucket := rapid.SampledFrom([]layout.Bucket{layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year}).Draw(t, "bucket")
		p.Bucket = bucket.Start(time.Unix(rapid.Int64Range(yearOne+40e6, 253402300799).Draw(t, "time"), 0))
	}
	rest := func(p *Position) {
		if rapid.Bool().Draw(t, "sorted") {
			p.Sort = value("sort")
		}
		for range rapid.IntRange(0, 2).Draw(t, "table key") {
			p.Table = append(p.Table, value("key"))
		}
	}
	rest(&p)
	if rapid.Bool().Draw(t, "older") {
		p.Older = &Position{Ordinal: NewOrdinal(rapid.IntRange(1, MaxOlder).Draw(t, "older layout"), 0)}
		rest(p.Older)
	}
	return p
}

func TestTokenRoundTrip(t *testing.T) {
	for name, key := range tokenKeys {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, n := drawPosition(t), rapid.Uint64().Draw(t, "fingerprint")
				fingerprint := queryOf(n)
				token := p.Token(fingerprint, key)
				got, err := Parse(token, fingerprint, key)
				if err != nil || !reflect.DeepEqual(got, p) {
					t.Fatalf("got %+v, %v, want %+v", got, err, p)
				}
				if again := got.Token(fingerprint, key); again != token {
					t.Fatalf("%q became %q", token, again)
				}
				if len(token) > maxToken {
					t.Fatalf("%d characters", len(token))
				}
				if _, err := Parse(token, queryOf(n+3), key); !errors.Is(err, ErrQuery) {
					t.Fatalf("as another query's: %v", err)
				}
			})
		})
	}
}

// However it is bent, a token is refused; only what token wrote is read.
func TestTokenBitFlips(t *testing.T) {
	p := Position{
		Bucket: firstDay, Ordinal: NewOrdinal(1, 12345),
		Sort:  sortkey.Value{Kind: attr.S, Text: "2026-02-27T12:00:00Z#user-12345"},
		Table: []sortkey.Value{{Kind: attr.B, Text: "\x00\xff"}, {Kind: attr.N, Text: string(attr.Zero)}},
	}
	for name, key := range tokenKeys {
		t.Run(name, func(t *testing.T) {
			token := p.Token(queryOf(42), key)
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil {
				t.Fatal(err)
			}
			refused := func(what, token string) {
				t.Helper()
				if p, err := Parse(token, queryOf(42), key); err == nil {
					t.Errorf("%s: got %+v, want an error", what, p)
				}
			}
			for bit := range 8 * len(raw) {
				bent := bytes.Clone(raw)
				bent[bit/8] ^= 1 << (bit % 8)
				refused(fmt.Sprintf("bit %d", bit), base64.RawURLEncoding.EncodeToString(bent))
			}
			for i := range token {
				refused(fmt.Sprintf("without character %d", i), token[:i]+token[i+1:])
				refused(fmt.Sprintf("cut at %d", i), token[:i])
				refused(fmt.Sprintf("a newline at %d", i), token[:i]+"\n"+token[i:])
				refused(fmt.Sprintf("a carriage return at %d", i), token[:i]+"\r"+token[i:])
			}
			refused("padded", token+"=")
			refused("doubled", token+token)
			refused("too long", strings.Repeat("A", maxToken+1))
			for other, key := range tokenKeys {
				if other != name {
					if _, err := Parse(token, queryOf(42), key); !errors.Is(err, ErrSeal) {
						t.Errorf("read as %s: got %v, want %v", other, err, ErrSeal)
					}
				}
			}
		})
	}
	if _, err := Parse(p.Token(queryOf(42), tokenKeys["signed"]), queryOf(42), [][]byte{[]byte("another key of 16 bytes")}); !errors.Is(err, ErrSeal) {
		t.Errorf("signed with another key: %v", err)
	}
}

// Tokens of other versions are met during a rollout: whoever holds one must learn what to do. They are refused whatever
// their seal is, because another version may seal them otherwise.
func TestTokenVersion(t *testing.T) {
	for name, keys := range tokenKeys {
		raw, err := base64.RawURLEncoding.DecodeString(Position{}.Token(queryOf(1), keys))
		if err != nil || raw[0] != Version {
			t.Fatalf("%s: the first byte is %d, %v, want the version", name, raw[0], err)
		}
		for version, want := range map[byte]string{
			0:           "it has version 0, want version 2: begin with the first page",
			1:           "it has version 1, want version 2: begin with the first page",
			Version + 1: "it has the newer version 3, and this process understands version 2: upgrade heatsink in this process, or begin with the first page",
			255:         "it has the newer version 255, and this process understands version 2: upgrade heatsink in this process, or begin with the first page",
		} {
			sealed := len(raw) - macSize
			if len(keys) == 0 {
				sealed = len(raw) - crcSize
			}
			body := append([]byte{version}, raw[1:sealed]...)
			for seals, token := range map[string][]byte{
				"sealed":           append(bytes.Clone(body), seal(body, slices.Concat(keys...))...), // of one key or none
				"sealed otherwise": append(bytes.Clone(body), raw[sealed:]...),
			} {
				_, err := Parse(base64.RawURLEncoding.EncodeToString(token), queryOf(1), keys)
				if other, ok := errors.AsType[*VersionError](err); !ok || other.Version != version || err.Error() != want {
					t.Errorf("%s, %s: got %v, want %s", name, seals, err, want)
				}
			}
		}
	}
}

// Each way to be wrong has its error.
func TestParseSaysWhatIsWrong(t *testing.T) {
	sealed := func(body ...byte) string {
		body = append([]byte{Version, 0, 0, 0, 0, 0, 0, 0, 1}, body...)
		return base64.RawURLEncoding.EncodeToString(append(body, seal(body, nil)...))
	}
	good := Position{Width: 1}.Token(queryOf(1), nil)
	for name, test := range map[string]struct {
		token string
		want  error
	}{
		"nothing":               {"", ErrShort},
		"no base64":             {"*", ErrEncoding},
		"base64 over two lines": {good[:4] + "\n" + good[4:], ErrEncoding},
		"a byte too few":        {base64.RawURLEncoding.EncodeToString(make([]byte, 12)), ErrShort},
		"another seal":          {good[:len(good)-2] + "AA", ErrSeal},
		"no position":           {sealed(), ErrPosition},
		"bytes behind":          {sealed(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrPosition},
		"a boolean":             {sealed(0, 1, 0, byte(attr.Bool), 0, 0), ErrPosition},
		"no UTF-8":              {sealed(0, 1, 0, byte(attr.S), 1, 0xff, 0), ErrPosition},
		"an empty string":       {sealed(0, 1, 0, byte(attr.S), 0, 0), ErrPosition},
		"an empty binary":       {sealed(0, 1, 0, byte(attr.B), 0, 0), ErrPosition},
		"no number":             {sealed(0, 1, 0, byte(attr.N), 1, 'x', 0), ErrPosition},
		"text of no kind":       {sealed(0, 1, 0, 0, 1, 'x', 0), ErrPosition},
		"three table keys":      {sealed(0, 1, 0, 0, 0, 3, 1, 1, 'a', 1, 1, 'b', 1, 1, 'c'), ErrPosition},
		"a value cut off":       {sealed(0, 1, 0, byte(attr.S), 9, 'a'), ErrPosition},
		"a number in two bytes": {sealed(0x80, 0, 1, 0, 0, 0, 0), ErrPosition},
		"an hour too late":      {sealed(append(binary.AppendUvarint(nil, maxHours+1), 1, 0, 0, 0, 0)...), ErrPosition},
		"bits behind":           {good[:len(good)-1] + string(good[len(good)-1]+1), ErrEncoding},
		"another query":         {Position{Width: 1}.Token(queryOf(7), nil), ErrQuery},
		"another width":         {Position{Width: 2}.Token(Fingerprints{One: 1, Many: 1}, nil), ErrQuery},
	} {
		if p, err := Parse(test.token, queryOf(1), nil); !errors.Is(err, test.want) {
			t.Errorf("%s: got %+v, %v, want %v", name, p, err, test.want)
		}
	}
	_, err := Parse(strings.Repeat("A", maxToken+1), queryOf(1), nil)
	if long, ok := errors.AsType[*LengthError](err); !ok || long.Characters != maxToken+1 {
		t.Errorf("got %v, want that it is too long", err)
	}
	if _, err := Parse(good, queryOf(1), nil); err != nil {
		t.Error(err)
	}
}

// TestTokensStayTheSame has tokens that were issued before this package came to be.
func TestTokensStayTheSame(t *testing.T) {
	query := Fingerprints{One: 0x0102030405060708, Many: 0xf1f2f3f4f5f6f7f8}
	str := func(s string) sortkey.Value { return sortkey.Value{Kind: attr.S, Text: s} }
	bin := func(s string) sortkey.Value { return sortkey.Value{Kind: attr.B, Text: s} }
	num := func(s string) sortkey.Value { return sortkey.Value{Kind: attr.N, Text: numberText(t, s)} }
	for _, test := range []struct {
		name             string
		position         Position
		unsigned, signed string
	}{
		{
			"no sort key",
			Position{Width: 1},
			"AgECAwQFBgcIAAEAAAAA1DibOQ",
			"AgECAwQFBgcIAAEAAAAAp5-dl5KxX_a2SknkxWJaSw",
		},
		{
			"one shard",
			Position{Width: 1, Sort: str("a")},
			"AgECAwQFBgcIAAEAAQFhAEhLCKo",
			"AgECAwQFBgcIAAEAAQFhACZIK_X9rYJzVnWZVpXkf7g",
		},
		{
			"number",
			Position{Width: 5000, Ordinal: NewOrdinal(0, 4711), Sort: num("-12345678.901234567890123456789012345678")},
			"AvHy8_T19vf4AIgn5yQCKC0xMjM0NTY3OC45MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2NzgAT1txqQ",
			"AvHy8_T19vf4AIgn5yQCKC0xMjM0NTY3OC45MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2NzgAJSSz8UcZfoRNdvmrMmDzpg",
		},
		{
			"binary in a bucket",
			Position{Bucket: firstDay, Width: 8, Ordinal: NewOrdinal(0, 7), Sort: bin("\x00\xff")},
			"AvHy8_T19vf42MC7CAgHAwIA_wADh3bw",
			"AvHy8_T19vf42MC7CAgHAwIA_wBI0SoKm9_A2Iv1zo3uoiay",
		},
		{
			"index",
			Position{Width: layout.MaxShards, Ordinal: NewOrdinal(MaxOlder, layout.MaxShards-1), Sort: num("0"), Table: []sortkey.Value{str("é"), bin("x")}},
			"AvHy8_T19vf4AICABP__-w8CATACAQLDqQMBeFBzSKU",
			"AvHy8_T19vf4AICABP__-w8CATACAQLDqQMBeIOCyr6P1gMf4bm0Gt4Se2Q",
		},
		{
			"index in a bucket, behind an older item",
			Position{
				Bucket: firstDay, Width: 3, Table: []sortkey.Value{num("10")},
				Older: &Position{Ordinal: NewOrdinal(1, 0), Table: []sortkey.Value{num("-1.5")}},
			},
			"AvHy8_T19vf42MC7CAMAAAABAgIxMICACAAAAQIELTEuNZL7q08",
			"AvHy8_T19vf42MC7CAMAAAABAgIxMICACAAAAQIELTEuNfJPG7iRHAwsbrPKK_HUCd0",
		},
	} {
		for name, want := range map[string]string{"unsigned": test.unsigned, "signed": test.signed} {
			if got := test.position.Token(query, tokenKeys[name]); got != want {
				t.Errorf("%s, %s: got %q, want %q", test.name, name, got, want)
			}
			if got, err := Parse(want, query, tokenKeys[name]); err != nil || !reflect.DeepEqual(got, test.position) {
				t.Errorf("%s, %s: got %+v, %v, want %+v", test.name, name, got, err, test.position)
			}
		}
	}
}

// The target is 120 characters for ordinary sort keys, whatever the shard count.
func TestTokenIsShort(t *testing.T) {
	sorts := map[string]sortkey.Value{
		"ulid":         {Kind: attr.S, Text: "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		"uuid":         {Kind: attr.S, Text: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		"time":         {Kind: attr.S, Text: "2026-06-22T01:00:00.123456789Z"},
		"time#user":    {Kind: attr.S, Text: "2026-06-22T01:00:00.123Z#user-12345678"},
		"milliseconds": {Kind: attr.N, Text: numberText(t, "1782090000123")},
		"long number":  {Kind: attr.N, Text: numberText(t, "-12345678.901234567890123456789012345678")},
		"binary":       {Kind: attr.B, Text: strings.Repeat("\x80", 16)},
	}
	for name, sort := range sorts {
		for _, shards := range []int{1, 8, 1000, layout.MaxShards} {
			p := Position{Bucket: firstDay, Width: shards, Ordinal: NewOrdinal(0, shards-1), Sort: sort}
			token := p.Token(queryOf(1<<63), tokenKeys["signed"])
			if len(token) > 120 {
				t.Errorf("%s in shard %d: %d characters", name, shards-1, len(token))
			}
			if shards == layout.MaxShards {
				t.Logf("%s: %d characters signed, %d unsigned", name, len(token), len(p.Token(queryOf(1), nil)))
			}
		}
	}
}

func numberText(t *testing.T, s string) string {
	n, err := attr.ParseNumber(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(n)
}

func FuzzParseToken(f *testing.F) {
	p := Position{Bucket: firstDay, Width: 1, Ordinal: NewOrdinal(1, 7), Sort: sortkey.Value{Kind: attr.S, Text: "a"}, Table: []sortkey.Value{{Kind: attr.B, Text: "b"}}}
	for _, key := range tokenKeys {
		f.Add([]byte(p.Token(Fingerprints{1, 1}, key)), true)
	}
	f.Add(p.append(nil), false)
	f.Add(Position{}.append(nil), false)
	f.Add([]byte{0x80, 0, 0, 0, 0, 0, 0}, false) // zero, in two bytes
	f.Add([]byte{0, 1, 0, byte(attr.N), 3, '1', '.', '0', 0}, false)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		for _, keys := range tokenKeys {
			token := string(data)
			if !whole { // a position, sealed by us
				body := append([]byte{Version, 0, 0, 0, 0, 0, 0, 0, 1}, data...)
				token = base64.RawURLEncoding.EncodeToString(append(body, seal(body, slices.Concat(keys...))...)) // of one key or none
			}
			p, err := Parse(token, Fingerprints{1, 1}, keys)
			if err != nil {
				continue
			}
			if again := p.Token(Fingerprints{1, 1}, keys); again != token {
				t.Fatalf("%q is read as %+v, which is %q", token, p, again)
			}
		}
	})
}
