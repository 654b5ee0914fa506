package local

import _ "example.com/small/internal/shared"
