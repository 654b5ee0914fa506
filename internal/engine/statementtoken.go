package engine

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// A NextToken is where a page of a SELECT ended, for the statement and the
// parameters that it was made for, in base64:
//
//	token = fingerprint read [ key ] checksum
//
// The fingerprint is that of the request and the checksum that of all before it,
// in eight bytes each; read is a uvarint; the key is in its stored form.

const tokenPart = 8 // bytes of the fingerprint and of the checksum

// token returns the token of a position.
func (in *StatementInput) token(at position) string {
	b := binary.BigEndian.AppendUint64(nil, in.fingerprint())
	b = binary.AppendUvarint(b, uint64(at.read))
	if at.key != nil {
		b = append(b, attr.NewRaw(at.key)...)
	}
	return base64.StdEncoding.EncodeToString(seal(b))
}

// seal appends the checksum.
func seal(b []byte) []byte { return binary.BigEndian.AppendUint64(b, xxhash.Sum64(b)) }

// position returns the position of a token.
func (in *StatementInput) position(token string) (at position, err error) {
	b, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(b) <= 2*tokenPart {
		return at, errNextToken()
	}
	b, sum := b[:len(b)-tokenPart], binary.BigEndian.Uint64(b[len(b)-tokenPart:])
	if xxhash.Sum64(b) != sum {
		return at, errNextToken()
	}
	if binary.BigEndian.Uint64(b) != in.fingerprint() {
		return at, invalid("NextToken does not match request")
	}
	number, n := binary.Uvarint(b[tokenPart:])
	if n <= 0 || number > maxStatement { // a statement has fewer reads than bytes
		return at, errNextToken()
	}
	at.read = int(number)
	if raw := attr.Raw(b[tokenPart+n:]); len(raw) > 0 {
		if at.key, err = raw.Decode(); err != nil {
			return at, errNextToken()
		}
	}
	return at, nil
}

func errNextToken() *Error { return invalid("Invalid NextToken") }

// fingerprint tells statements apart, by their text and their parameters.
func (in *StatementInput) fingerprint() uint64 {
	var f fingerprint
	f.Reset()
	f.statement(in)
	return f.Sum64()
}

func (f *fingerprint) statement(in *StatementInput) {
	f.text(in.Statement)
	f.number(len(in.Parameters))
	for _, v := range in.Parameters {
		f.text(new(string(attr.NewRaw(attr.Item{{Name: "v", Value: v}}))))
	}
	f.text(&in.OnConditionFailure)
}
