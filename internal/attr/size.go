package attr

// Size returns what the value counts towards its item's size, in bytes, the
// name of its attribute not included: text and binaries their bytes, numbers
// about a byte for two digits, booleans and null one, sets the sum of their
// elements, lists and maps three bytes and one for each element besides.
func (v Value) Size() int {
	switch v.Kind {
	case S, B:
		return len(v.Str)
	case N:
		return v.Number().size()
	case SS, NS, BS:
		size := 0
		for i := range v.List {
			size += v.List[i].Size()
		}
		return size
	case L:
		size := 3 + len(v.List)
		for i := range v.List {
			size += v.List[i].Size()
		}
		return size
	case M:
		return 3 + len(v.Map) + v.Map.Size()
	default:
		return 1
	}
}

// Size returns the item's size in bytes as DynamoDB counts it for capacity
// units and limits: names and values of all attributes.
func (it Item) Size() int {
	size := 0
	for i := range it {
		size += len(it[i].Name) + it[i].Value.Size()
	}
	return size
}
