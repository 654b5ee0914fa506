package eventlog

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink"
)

type nobody struct{ heatsink.Client }

func positions(t testing.TB, keys ...string) *core {
	t.Helper()
	options := Options{Table: "logs"}
	for _, key := range keys {
		if key != "" {
			options.TokenKeys = append(options.TokenKeys, []byte(key))
		}
	}
	c, err := newCore(nobody{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const secret = "sixteen bytes...."

func TestTokensAreForOneThing(t *testing.T) {
	for _, key := range []string{"", secret} {
		c := positions(t, key)
		for _, p := range []position{
			{pageForwards, "2026-06-22T01:00:00Z#x", true},
			{pageBackwards, "ALERT#2026-06-22T01:00:00Z", true},
			{tailed, strings.Repeat("ü", 512), false},
		} {
			token := c.token(p, "OPS_LOG")
			if got, err := c.parsePosition(token, p.kind, "OPS_LOG"); err != nil || got != p {
				t.Errorf("got %+v, %v, want %+v", got, err, p)
			}
			for _, kind := range []positionKind{pageForwards, pageBackwards, tailed} {
				if _, err := c.parsePosition(token, kind, "OPS_LOG"); (err == nil) != (kind == p.kind) {
					t.Errorf("a token for %c is one for %c: %v", p.kind, kind, err)
				}
			}
			for name, err := range map[string]error{
				"another log":  parseError(c, token, p.kind, "OPS_LOG2"),
				"another key":  parseError(positions(t, secret+"!"), token, p.kind, "OPS_LOG"),
				"cut":          parseError(c, token[:len(token)-2], p.kind, "OPS_LOG"),
				"not base64":   parseError(c, "!"+token[1:], p.kind, "OPS_LOG"),
				"with a break": parseError(c, token[:8]+"\n"+token[8:], p.kind, "OPS_LOG"),
				"empty":        parseError(c, "", p.kind, "OPS_LOG"),
				"huge":         parseError(c, strings.Repeat("A", 1<<20), p.kind, "OPS_LOG"),
			} {
				if !errors.Is(err, ErrToken) {
					t.Errorf("%s: got %v", name, err)
				}
			}
		}
	}
}

// Any of the keys verifies a token, and the first signs it.
func TestTokenKeysRotate(t *testing.T) {
	old, both, young := positions(t, secret), positions(t, secret+"!", secret), positions(t, secret+"!")
	p := position{tailed, "2026-06-22T01:00:00Z#x", true}
	for name, test := range map[string]struct {
		from, to *core
		ok       bool
	}{
		"old to both":   {old, both, true},
		"both to young": {both, young, true},
		"both to old":   {both, old, false},
		"old to young":  {old, young, false},
	} {
		got, err := test.to.parsePosition(test.from.token(p, "OPS_LOG"), tailed, "OPS_LOG")
		if test.ok && (err != nil || got != p) || !test.ok && !errors.Is(err, ErrToken) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func parseError(c *core, token string, kind positionKind, log string) error {
	_, err := c.parsePosition(token, kind, log)
	return err
}

// Every single bit of a token counts.
func TestTokensAreSealed(t *testing.T) {
	for _, key := range []string{"", secret} {
		c := positions(t, key)
		b, err := base64.RawURLEncoding.DecodeString(c.token(position{tailed, "2026-06-22T01:00:00Z#x", true}, "OPS_LOG"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 * len(b) {
			b[i/8] ^= 1 << (i % 8)
			if err := parseError(c, base64.RawURLEncoding.EncodeToString(b), tailed, "OPS_LOG"); !errors.Is(err, ErrToken) {
				t.Errorf("bit %d: got %v", i, err)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

func FuzzParsePosition(f *testing.F) {
	c := positions(f, "")
	f.Add(c.token(position{tailed, "2026-06-22T01:00:00Z#x", true}, "OPS_LOG"))
	f.Add(c.token(position{tailed, "2026-06-22T01:00:00Z", false}, "OPS_LOG"))
	f.Fuzz(func(t *testing.T, token string) {
		p, err := c.parsePosition(token, tailed, "OPS_LOG")
		if err == nil && c.token(p, "OPS_LOG") != token {
			t.Errorf("%q is %+v, whose token is another", token, p)
		}
		if err != nil && !errors.Is(err, ErrToken) {
			t.Errorf("%q: got %v", token, err)
		}
	})
}
