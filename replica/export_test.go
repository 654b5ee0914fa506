package replica

import "github.com/heatsink-go/heatsink/internal/schema"

// Schema is what options need of a table, for tests.
func Schema(options Options) schema.Table { return options.withDefaults().table() }
