package other

import _ "example.com/small"
