package heat

// Resource is a table or one of its global indexes. Each has its own partitions.
type Resource struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // "" for the table itself
}

// String returns the name as "orders", or "orders/byStatus" for an index.
func (r Resource) String() string {
	if r.Index == "" {
		return r.Table
	}
	return r.Table + "/" + r.Index
}

// Direction is read or write. A partition has an independent limit for each.
type Direction uint8

// The directions.
const (
	Read Direction = iota
	Write
)

// The units a second that one partition serves, whatever the table's provisioned capacity.
const (
	PartitionReadUnits  = 3000
	PartitionWriteUnits = 1000
)

// Limit returns the units a second that one partition serves.
func (d Direction) Limit() float64 {
	if d == Read {
		return PartitionReadUnits
	}
	return PartitionWriteUnits
}

// String returns "read" or "write".
func (d Direction) String() string {
	if d == Read {
		return "read"
	}
	return "write"
}

// MarshalText writes the direction as a word, in JSON for example.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Direction) UnmarshalText(text []byte) error {
	switch string(text) {
	case "read":
		*d = Read
	case "write":
		*d = Write
	default:
		return &UnknownTextError{Type: "direction", Text: string(text)}
	}
	return nil
}
