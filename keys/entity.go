package keys

import (
	"fmt"
	"strings"
)

// Entity returns the key of an entity of a type: USER#123. The type must not contain "#"; the id may.
func Entity(typ, id string) (string, error) {
	if err := checkType(typ); err != nil {
		return "", err
	}
	if err := check("id", id); err != nil {
		return "", err
	}
	return typ + Separator + id, nil
}

// ParseEntity splits an entity key at its first "#". It accepts exactly what Entity returns.
func ParseEntity(key string) (typ, id string, err error) {
	typ, id, ok := strings.Cut(key, Separator)
	if !ok {
		return "", "", fmt.Errorf("%w: entity key %s has no %q between type and id", ErrPart, excerpt(key), Separator)
	}
	if _, err := Entity(typ, id); err != nil {
		return "", "", fmt.Errorf("entity key %s: %w", excerpt(key), err)
	}
	return typ, id, nil
}

// IndexKey returns the key under which an index lists entities of a type by a value: TICKET#open. The name of the index
// appears only in errors, because an item has one key per index and they are easily confused.
func IndexKey(index, typ, value string) (string, error) {
	if err := check("index name", index); err != nil {
		return "", err
	}
	if err := checkType(typ); err != nil {
		return "", fmt.Errorf("index %s: %w", excerpt(index), err)
	}
	if err := check("value", value); err != nil {
		return "", fmt.Errorf("index %s: %w", excerpt(index), err)
	}
	return typ + Separator + value, nil
}

// Sparse returns v if the item is to be in the index, and else the zero value. With the tag omitempty the attribute is
// then left out of the item, and DynamoDB leaves the item out of the index:
//
//	type User struct {
//		Premium string `dynamodbav:"premium,omitempty"`
//	}
//
//	u.Premium = keys.Sparse(u.Paid, key)
func Sparse[T any](indexed bool, v T) T {
	if !indexed {
		var none T
		return none
	}
	return v
}

func checkType(typ string) error {
	if err := check("type", typ); err != nil {
		return err
	}
	if strings.Contains(typ, Separator) {
		return fmt.Errorf("%w: the type %s contains the separator %q", ErrPart, excerpt(typ), Separator)
	}
	return nil
}
