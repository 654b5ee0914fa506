package corpus

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// maker makes the text of an id. Two calls may make the same.
type maker func(r *rand.Rand) string

func drawn(alphabet string, n int) maker {
	return func(r *rand.Rand) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(text)
	}
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// The ids that people use.
var (
	hex4      = drawn("0123456789abcdef", 4)
	hex8      = drawn("0123456789abcdef", 8)
	hex24     = drawn("0123456789abcdef", 24)
	hex64     = drawn("0123456789abcdef", 64)
	ulid      = drawn("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)
	ksuid     = drawn(digits+uppers+lowers, 27)
	nanoid    = drawn(digits+uppers+lowers+"_-", 21)
	short     = drawn(digits+uppers+lowers, 7)
	snowflake = func(r *rand.Rand) string { return fmt.Sprint(1<<60 + r.Int64N(1<<50)) }
	number    = func(r *rand.Rand) string { return fmt.Sprint(r.IntN(100_000)) }
	padded    = func(r *rand.Rand) string { return fmt.Sprintf("%08d", r.IntN(100_000)) }
	phone     = func(r *rand.Rand) string { return fmt.Sprintf("+1415%07d", r.IntN(10_000_000)) }
	plate     = func(r *rand.Rand) string {
		return drawn(uppers, 2)(r) + "-" + drawn(digits, 3)(r) + "-" + drawn(uppers, 2)(r)
	}
	address = func(r *rand.Rand) string { return fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256)) }
	geohash = drawn("0123456789bcdefghjkmnpqrstuvwxyz", 6)
	secret  = func(r *rand.Rand) string { return base64.RawURLEncoding.EncodeToString([]byte(ksuid(r))) }
)

func uuid(r *rand.Rand) string {
	h := drawn("0123456789abcdef", 32)(r)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func email(r *rand.Rand) string { return person(r) + "." + drawn(lowers, 4)(r) + "@example.com" }

func brand(r *rand.Rand) string {
	return fmt.Sprintf("brand-%s-%03d", drawn(lowers, 3)(r), r.IntN(1000))
}

// coin makes names, such as of companies.
func coin(r *rand.Rand) string {
	var text strings.Builder
	for range 2 + r.IntN(2) {
		text.WriteString(drawn("bcdfglmnprstvz", 1)(r) + drawn("aeiou", 1)(r))
	}
	return text.String() + drawn("nrsxt", 1)(r)
}

func person(r *rand.Rand) string {
	return [...]string{"ada", "alan", "barbara", "dennis", "edsger", "frances", "grace", "ken", "leslie", "margaret", "niklaus", "rob"}[r.IntN(12)]
}

func slug(r *rand.Rand) string { return coin(r) + "-" + coin(r) + "-" + coin(r) }

func prefixed(prefix string, id maker) maker {
	return func(r *rand.Rand) string { return prefix + id(r) }
}

func both(a maker, between string, b maker) maker {
	return func(r *rand.Rand) string { return a(r) + between + b(r) }
}

func upper(id maker) maker { return func(r *rand.Rand) string { return strings.ToUpper(id(r)) } }

func oneOf(words ...string) maker {
	return func(r *rand.Rand) string { return words[r.IntN(len(words))] }
}

// distinct makes so many different ids.
func distinct(n int, id maker, r *rand.Rand) []string {
	known := make(map[string]bool)
	var all []string
	for len(all) < n {
		if text := id(r); !known[text] {
			known[text] = true
			all = append(all, text)
		}
	}
	return all
}
