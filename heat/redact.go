package heat

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Hashed returns a Redact that replaces a key by 16 hexadecimal digits of its HMAC-SHA256 with a secret. A key has the
// same hash wherever the secret is the same, and anyone with the secret can test a guessed key. Patterns of keys, and
// findings from them, are lost.
func Hashed(secret []byte) func(dst, key []byte) []byte {
	secret = append([]byte(nil), secret...)
	return func(dst, key []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(key)
		return hex.AppendEncode(dst, mac.Sum(nil)[:8])
	}
}

// Redact replaces the keys of a report that was made without Options.Redact.
func (r *Report) Redact(redact func(dst, key []byte) []byte) {
	for i := range r.Decisions {
		d := &r.Decisions[i]
		d.Key, d.Text = string(redact(nil, []byte(d.Key))), ""
	}
	for i := range r.Resources {
		resource := &r.Resources[i]
		resource.Patterns = nil
		for _, d := range [...]Direction{Read, Write} {
			flow := resource.Flow(d)
			for j := range flow.Keys {
				flow.Keys[j].Key, flow.Keys[j].Shape = string(redact(nil, []byte(flow.Keys[j].Key))), ""
			}
			flow.Logical = nil // of keys that are hidden now
			for j := range flow.Sharded {
				flow.Sharded[j].redact(redact)
			}
		}
		if stored := resource.Stored; stored != nil {
			stored.Growth = nil
			for j := range stored.Sharded {
				stored.Sharded[j].redact(redact)
			}
			for j := range stored.Keys {
				stored.Keys[j].Key, stored.Keys[j].Shape = string(redact(nil, []byte(stored.Keys[j].Key))), ""
			}
		}
	}
}
