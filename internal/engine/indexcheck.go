package engine

import "slices"

// checkDefinitions checks that the attributes that are defined are those that
// keys consist of.
func (in *CreateTableInput) checkDefinitions() error {
	if in.HasLocalIndexes && len(in.LocalIndexes) == 0 {
		return invalidParameter("List of LocalSecondaryIndexes is empty")
	}
	if in.HasGlobalIndexes && len(in.GlobalIndexes) == 0 {
		return invalidParameter("List of GlobalSecondaryIndexes is empty")
	}
	used := keyNames(in.KeySchema)
	for _, x := range slices.Concat(in.LocalIndexes, in.GlobalIndexes) {
		if err := in.checkDefined(x.KeySchema); err != nil {
			return err
		}
		for _, name := range keyNames(x.KeySchema) {
			if !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	if len(in.AttributeDefinitions) == len(used) {
		return nil
	}
	if len(in.LocalIndexes)+len(in.GlobalIndexes) == 0 {
		return invalidParameter("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	return invalidParameter("Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s",
		list(definedNames(in.AttributeDefinitions)), list(used))
}

// checkDistinct checks that no attribute is in the key of an index twice, which
// otherwise looks like a definition too many.
func (in *CreateTableInput) checkDistinct() error {
	repeats := func(keys []KeyElement) bool {
		names := keyNames(keys)
		slices.Sort(names)
		return len(slices.Compact(names)) < len(keys)
	}
	for i := range in.LocalIndexes {
		if repeats(in.LocalIndexes[i].KeySchema) {
			return errSameNames()
		}
	}
	for i := range in.GlobalIndexes {
		if repeats(in.GlobalIndexes[i].KeySchema) {
			return invalid("The KeySchema contains multiple key attributes with the same name")
		}
	}
	return nil
}

func (in *CreateTableInput) checkLocalIndexes() error {
	if len(in.LocalIndexes) == 0 {
		return nil
	}
	if len(in.KeySchema) < 2 {
		return invalidParameter("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	hash := in.KeySchema[0].AttributeName
	for i := range in.LocalIndexes {
		x := &in.LocalIndexes[i]
		if err := checkPair(x.KeySchema); err != nil {
			return err
		}
		if len(x.KeySchema) < 2 {
			return invalidParameter("Index KeySchema does not have a range key for index: %s", *x.IndexName)
		}
		if x.KeySchema[0].AttributeName != hash {
			return invalidParameter("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. "+
				"index hash key: %s, table hash key: %s", *x.IndexName, x.KeySchema[0].AttributeName, hash)
		}
		if err := x.Projection.check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *CreateTableInput) checkGlobalIndexes() error {
	for i := range in.GlobalIndexes {
		x := &in.GlobalIndexes[i]
		if err := checkParts(x.KeySchema); err != nil {
			return err
		}
		if err := x.Projection.check(); err != nil {
			return err
		}
		if err := in.checkIndexBilling(x); err != nil {
			return err
		}
	}
	return nil
}

// checkIndexesTogether checks what concerns all indexes: their names and how
// many there are.
func (in *CreateTableInput) checkIndexesTogether() error {
	names, projected := map[string]bool{}, 0
	for _, x := range slices.Concat(in.LocalIndexes, in.GlobalIndexes) {
		if names[*x.IndexName] {
			return invalidParameter("Duplicate index name: %s", *x.IndexName)
		}
		names[*x.IndexName] = true
		projected += len(x.Projection.NonKeyAttributes)
	}
	if len(in.LocalIndexes) > maxLocalIndexes {
		return invalidParameter("Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocalIndexes)
	}
	if len(in.GlobalIndexes) > maxGlobalIndexes {
		return invalidParameter("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes)
	}
	if projected > maxProjected {
		return invalidParameter("Number of NonKeyAttributes in all secondary indexes exceeds per-table limit of %d", maxProjected)
	}
	return nil
}

func (p *Projection) check() error {
	if p.Type == nil {
		return invalidParameter("Unknown ProjectionType: null")
	}
	if *p.Type == "INCLUDE" && !p.HasNonKey {
		return invalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	if *p.Type != "INCLUDE" && p.HasNonKey {
		return invalidParameter("ProjectionType is %s, but NonKeyAttributes is specified", *p.Type)
	}
	seen := map[string]bool{}
	for _, name := range p.NonKeyAttributes {
		if seen[name] {
			return invalidParameter("Duplicate element in NonKeyAttributes: %s", name)
		}
		seen[name] = true
	}
	return nil
}
