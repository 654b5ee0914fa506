package copies

import (
	"errors"
	"fmt"
	"strings"
)

var unlike = 1

func weight(parts []int, most int) (int, error) {
	all := 0
	for at, part := range parts {
		if part < 0 {
			return 0, fmt.Errorf("part %d: %d is negative", at, part)
		}
		all += part
	}
	if all > most {
		return 0, errors.New("too heavy: " + strings.Repeat("?", 3))
	}
	return all, nil
}
