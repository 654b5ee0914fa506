package engine

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// Places returns where the collections of partition keys begin, in hexadecimal, as
// partitions.Partition has its bounds. A key is given as Access.Key has it: its values
// as text. A key that does not fit the schema has no place, which is "". An index
// that does not exist has none for all of them.
func (e *Engine) Places(ctx context.Context, tableName, indexName string, keys [][]string) ([]string, error) {
	t, err := e.openTable(ctx, tableName)
	if err != nil {
		return nil, err
	}
	defer t.release()
	parts := t.keys.hash
	if indexName != "" {
		parts = nil
		if x := t.index(indexName); x != nil {
			parts = x.keys.hash
		}
	}
	places := make([]string, len(keys))
	for i, key := range keys {
		places[i] = hex.EncodeToString(placeOfTexts(parts, key))
	}
	return places, nil
}

// placeOfTexts is the inverse of resource.key, for the partition key: nil if the
// texts are not values of its attributes.
func placeOfTexts(parts []expr.KeyPart, texts []string) []byte {
	if len(parts) == 0 || len(parts) != len(texts) {
		return nil
	}
	place := make([]byte, hashLength)
	for i, p := range parts {
		v := attr.String(texts[i])
		switch p.Kind {
		case attr.N:
			n, err := attr.ParseNumber(texts[i])
			if err != nil {
				return nil
			}
			v = attr.Num(n)
		case attr.B:
			decoded, err := base64.StdEncoding.DecodeString(texts[i])
			if err != nil {
				return nil
			}
			v = attr.Binary(string(decoded))
		}
		place = attr.AppendKey(place, v)
	}
	binary.BigEndian.PutUint64(place, xxhash.Sum64(place[hashLength:]))
	return place
}
