package heat

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Hashed returns a Redact that keeps 16 hexadecimal digits of the key's HMAC-SHA256 with a secret: the same key has the
// same text everywhere the secret is the same, and who has the secret can tell whether a text is of a key they think of.
// Patterns and what is told from them are lost with the keys' texts.
func Hashed(secret []byte) func(dst, key []byte) []byte {
	secret = append([]byte(nil), secret...)
	return func(dst, key []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(key)
		return hex.AppendEncode(dst, mac.Sum(nil)[:8])
	}
}
