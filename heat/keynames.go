package heat

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// keyNames are the attributes of a key: one or none of each kind of a table, up to four of an index.
type keyNames struct {
	partition, sort []string
	given           bool // the options name the partition key, whatever descriptions say
}

func (k keyNames) known() bool { return len(k.partition) > 0 }

// has reports whether all of some attributes are of the key.
func (k keyNames) has(names []string) bool {
	for _, name := range names {
		if !slices.Contains(k.partition, name) && !slices.Contains(k.sort, name) {
			return false
		}
	}
	return true
}

// learn takes the names from a description.
func (k *keyNames) learn(elements []types.KeySchemaElement) {
	if len(elements) == 0 {
		return
	}
	var partition []string
	sort := []string{} // known, even if there is none
	for _, element := range elements {
		if element.KeyType == types.KeyTypeHash {
			partition = append(partition, aws.ToString(element.AttributeName))
		} else {
			sort = append(sort, aws.ToString(element.AttributeName))
		}
	}
	if !k.given {
		k.partition = partition
	}
	k.sort = sort
}

// forget drops the names that were learned.
func (k *keyNames) forget() {
	if k.sort = nil; !k.given {
		k.partition = nil
	}
}
