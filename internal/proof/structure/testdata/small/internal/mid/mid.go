package mid

import (
	"fmt"

	"example.com/small/internal/jsonpull"
)

func One() int { return len(fmt.Sprint(jsonpull.Byte)) }
