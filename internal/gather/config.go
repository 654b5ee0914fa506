package gather

// Config says how to read. The zero Config reads everything forwards.
type Config struct {
	// Reverse reads from the end: shards do, and of the same sort value the last ordinal comes first.
	Reverse bool

	// Limit is the most entries to return. Zero: all.
	Limit int

	// MaxRequests is the most fetches to start, hedges included. Zero: any number. A read that needs more ends with an
	// AllowanceError.
	MaxRequests int

	// Prefetch is how many stages are read together with the one that is being returned, needed or not. The next is read
	// as soon as it is certain to be needed, in any case.
	Prefetch int

	// Concurrency is how many shards a Scatter reads at a time. Default: 16.
	Concurrency int

	// Lost reports whether an error is about one shard, so that others may do better. Any other error ends the read. Nil:
	// every error does.
	Lost func(error) bool

	// Partial goes on without the shards that are lost. Else the first ends the read with a MissingError.
	Partial bool

	// Hedge reports whether requests that are late may be sent again now. Nil: never.
	Hedge func() bool

	// Memory is about how many bytes entries may take that have been read and not returned. Default: 64 MB. However
	// little it is, there is enough for a page at a time.
	Memory int

	// MaxEntry and MaxPage are the most bytes that an entry and a page have, as Weight.Bytes counts them. Default: 1 MB
	// for a page, and as much for an entry.
	MaxEntry, MaxPage int

	// FirstPages is how many full pages the shards' first answers may come to in spite of Memory. Default: LeastPages.
	FirstPages int

	// History is what earlier reads have seen. Nil: nothing.
	History *History

	// Filter names what entries are filtered by, for History. Empty: all entries pass.
	Filter string

	// Evicted is told how many bytes were dropped for want of memory, to be read again. Nil: nobody is.
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
	if c.History == nil {
		c.History = new(History)
	}
	return c
}
