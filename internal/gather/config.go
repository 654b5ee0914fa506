package gather

// Config configures a read. The zero Config reads everything in ascending order.
type Config struct {
	// Reverse reads in descending order. Shards do the same, and of equal sort values the last ordinal comes first.
	Reverse bool

	// Limit is the maximum number of entries to return. Zero means all.
	Limit int

	// MaxRequests is the maximum number of fetches, including hedged ones. Zero means no limit. A read that needs more
	// ends with an AllowanceError.
	MaxRequests int

	// Prefetch is the number of stages to read ahead of the current one, whether they are needed or not. The next stage
	// is read in any case as soon as it is certain to be needed. With MaxRequests, neither happens before Stages.More of
	// the current stage has returned.
	Prefetch int

	// Concurrency is the number of shards that a Scatter reads at a time. Default: 16.
	Concurrency int

	// Lost reports whether an error concerns only one shard. Any other error ends the read. If Lost is nil, every error
	// does.
	Lost func(error) bool

	// Partial continues without the shards that are lost. Otherwise the first lost shard ends the read with a
	// MissingError.
	Partial bool

	// Hedge reports whether slow requests may be sent a second time now. Nil means never.
	Hedge func() bool

	// Memory is the approximate maximum memory, in bytes, of entries that were read but not returned. Default: 64 MB.
	// However small it is, one page at a time is allowed.
	Memory int

	// MaxEntry and MaxPage are the maximum bytes of an entry and of a page, as Weight.Bytes counts them. Default: 1 MB
	// each.
	MaxEntry, MaxPage int

	// FirstPages is the number of full pages that the first responses of all shards may bring in spite of Memory.
	// Default: LeastPages.
	FirstPages int

	// History holds the measurements of earlier reads. Nil means none.
	History *History

	// Filter identifies the filter of entries, for History. Empty means that all entries pass.
	Filter string

	// Yield is the share of different sort values that the reader counts towards the limit, as far as it is known: see History.Yield and
	// Gather.Uncount. It is for sources with Among. Zero means 1.
	Yield float64

	// Evicted is called with the number of bytes that were dropped to save memory and will be read again. It may be nil.
	Evicted func(bytes int)
}

const (
	defaultMemory      = 64 << 20
	defaultMaxPage     = 1 << 20
	defaultConcurrency = 16
)

func (c Config) withDefaults() Config {
	if c.Concurrency <= 0 {
		c.Concurrency = defaultConcurrency
	}
	if c.Lost == nil {
		c.Lost = func(error) bool { return false }
	}
	if c.Memory <= 0 {
		c.Memory = defaultMemory
	}
	if c.MaxPage <= 0 {
		c.MaxPage = defaultMaxPage
	}
	if c.MaxEntry <= 0 {
		c.MaxEntry = c.MaxPage
	}
	if c.FirstPages <= 0 {
		c.FirstPages = LeastPages
	}
	if c.Yield <= 0 || c.Yield > 1 {
		c.Yield = 1
	}
	if c.History == nil {
		c.History = new(History)
	}
	return c
}
