package leaderboard

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// replacement is the whole entry that a submission in mode Best or Latest makes, and the condition under which it
// replaces the one that is there. It is put as a whole: what another submission brought along must not stay behind, or
// the outcome would depend on the order of arrival.
type replacement struct {
	item      heatsink.Item
	condition string
	names     map[string]string
	values    heatsink.Item
}

// replacement returns what a submission, complete and checked, puts in the place of the player's entry.
func (x box) replacement(s Submission) *replacement {
	names := x.options.Names
	item := x.like(s.Player)
	maps.Copy(item, s.Attributes)
	item[names.Mode] = text(x.options.Mode.String())
	item[names.At] = text(s.At.Format(timeLayout))
	item[names.Score] = number(strconv.FormatInt(s.Score, 10))
	item[names.Place] = number(place(s.Score, tie(s.At, s.Player)))
	if !x.expires.IsZero() {
		item[names.TTL] = number(strconv.FormatInt(x.expires.Unix(), 10))
	}
	if len(s.Attributes) > 0 {
		item[names.Hash] = text(hashAttributes(s.Attributes))
	}
	r := &replacement{
		item:   item,
		names:  map[string]string{"#place": names.Place, "#mode": names.Mode, "#at": names.At},
		values: heatsink.Item{":mode": item[names.Mode], ":at": item[names.At]},
	}
	better := "#at <= :at"
	if x.options.Mode == Best {
		better = r.best(names)
	}
	r.condition = "attribute_not_exists(#place) OR (#mode = :mode AND (" + better + "))"
	return r
}

// best is the condition that the entry there is worse, in an order in which no two submissions that differ are equal:
// by place, then by the time that the place rounds off, then by the hash of the attributes.
func (r *replacement) best(names Names) string {
	r.values[":place"] = r.item[names.Place] // of equal scores the earlier one has the higher place
	hash, ok := r.item[names.Hash]
	if !ok {
		return "#place < :place OR (#place = :place AND #at > :at)"
	}
	r.names["#hash"], r.values[":hash"] = names.Hash, hash
	return "#place < :place OR (#place = :place AND (#at > :at OR (#at = :at AND (attribute_not_exists(#hash) OR #hash < :hash))))"
}

// edit makes it a request.
func (r *replacement) edit(in *dynamodb.PutItemInput) {
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &r.condition, r.names, r.values
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}

// is reports whether a stored entry is of this very submission, or of one that is equal to it.
func (r *replacement) is(stored heatsink.Item, names Names) bool {
	for _, name := range []string{names.Mode, names.At, names.Hash} {
		if textOf(stored[name]) != textOf(r.item[name]) {
			return false
		}
	}
	return samePlace(textOf(stored[names.Place]), textOf(r.item[names.Place]))
}

// hashAttributes returns 64 bits of a hash of attributes, as 16 digits. Every length is part of it, so that no value
// can run into the next.
func hashAttributes(item heatsink.Item) string {
	h := sha256.New()
	hashMap(h, item)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func hashMap(h hash.Hash, m map[string]types.AttributeValue) {
	hashLength(h, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		hashText(h, 'K', name)
		hashValue(h, m[name])
	}
}

func hashValue(h hash.Hash, v types.AttributeValue) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		hashText(h, 'S', v.Value)
	case *types.AttributeValueMemberN:
		hashText(h, 'N', v.Value)
	case *types.AttributeValueMemberB:
		hashText(h, 'B', string(v.Value))
	case *types.AttributeValueMemberBOOL:
		hashText(h, 'b', strconv.FormatBool(v.Value))
	case *types.AttributeValueMemberNULL:
		hashText(h, '0', "")
	case *types.AttributeValueMemberSS:
		hashSet(h, 's', v.Value)
	case *types.AttributeValueMemberNS:
		hashSet(h, 'n', v.Value)
	case *types.AttributeValueMemberBS:
		set := make([]string, len(v.Value))
		for i, b := range v.Value {
			set[i] = string(b)
		}
		hashSet(h, 'x', set)
	case *types.AttributeValueMemberL:
		hashText(h, 'L', "")
		hashLength(h, len(v.Value))
		for _, element := range v.Value {
			hashValue(h, element)
		}
	case *types.AttributeValueMemberM:
		hashText(h, 'M', "")
		hashMap(h, v.Value)
	}
}

// hashSet hashes a set, whose order means nothing.
func hashSet(h hash.Hash, kind byte, set []string) {
	hashText(h, kind, "")
	hashLength(h, len(set))
	for _, element := range slices.Sorted(slices.Values(set)) {
		hashText(h, kind, element)
	}
}

func hashText(h hash.Hash, kind byte, s string) {
	h.Write([]byte{kind})
	hashLength(h, len(s))
	h.Write([]byte(s))
}

func hashLength(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}
