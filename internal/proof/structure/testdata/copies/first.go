package copies

import (
	"errors"
	"fmt"
	"strings"
)

// total is copied in second.go with other names, and in third.go with a name that stands for two.
func total(prices []int, limit int) (int, error) {
	sum := 0
	for i, price := range prices {
		if price < 0 {
			return 0, fmt.Errorf("price %d: %d is less than 0", i, price)
		}
		sum += price
	}
	if sum > limit {
		return 0, errors.New("more than the limit: " + strings.Repeat("!", 3))
	}

	// Comments and blank lines are not copied.
	return sum, nil
}
