package place

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// stampWith makes an item carry the generation of the ledger that its writer knew, so that a ledger that was lost is noticed.
// What an item carries of before goes: the caller has read it from the table.
func stampWith(item Item, generation int64) {
	delete(item, ledger.StampName)
	if generation > 0 {
		item[ledger.StampName] = &types.AttributeValueMemberN{Value: strconv.FormatInt(generation, 10)}
	}
}

// maxStamp is more than a ledger ever counts to. A larger stamp was not written by heatsink.
const maxStamp = 1 << 50

// StampOf returns the stamp of a stored item, 0 if it has none that can be read.
func StampOf(item Item) int64 {
	n, ok := item[ledger.StampName].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	stamp, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || stamp < 0 || stamp > maxStamp {
		return 0
	}
	return stamp
}
