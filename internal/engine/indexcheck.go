package engine

import (
	"fmt"
	"slices"
	"strings"
)

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
		return errProjected()
	}
	return nil
}

// asCreate is the request as one that creates a table with the index, for what both
// have in common.
func (in *UpdateTableInput) asCreate(x *IndexInput, onDemand bool) *CreateTableInput {
	mode := "PROVISIONED"
	if onDemand {
		mode = "PAY_PER_REQUEST"
	}
	return &CreateTableInput{BillingMode: &mode, AttributeDefinitions: in.AttributeDefinitions, GlobalIndexes: []IndexInput{*x}}
}

// checkAdded checks an index that is added to a table. Definitions that it does not
// need are ignored, as by the service.
func (in *UpdateTableInput) checkAdded(t *table, x *IndexInput, onDemand bool) error {
	name := *x.IndexName
	if t.known(name) != nil {
		return invalid("Attempting to create an index which already exists")
	}
	if len(in.AttributeDefinitions) == 0 {
		return invalidParameter("AttributeDefinitions is not specified for index: %s", name)
	}
	as := in.asCreate(x, onDemand)
	for _, check := range []func() error{
		as.checkDefinedOnce,
		as.checkDistinct,
		func() error { return as.checkDefined(x.KeySchema) },
		func() error { return checkParts(x.KeySchema) },
		x.Projection.check,
		func() error { return as.checkAddedBilling(x) },
		func() error { return in.checkRedefined(&t.record.Description, x) },
		func() error { return t.checkRoom(x) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkAddedBilling is checkIndexBilling in the words of UpdateTable.
func (in *CreateTableInput) checkAddedBilling(x *IndexInput) error {
	switch p, name := x.ProvisionedThroughput, *x.IndexName; {
	case in.onDemand() && p != nil:
		return invalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: %s when BillingMode is PAY_PER_REQUEST", name)
	case !in.onDemand() && p == nil:
		return invalidParameter("Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: %s", name)
	}
	return in.checkIndexBilling(x)
}

// checkRedefined checks that the index's attributes have the types that they have
// in other keys of the table.
func (in *UpdateTableInput) checkRedefined(d *TableDescription, x *IndexInput) error {
	for _, name := range keyNames(x.KeySchema) {
		old, now := definitionOf(d.AttributeDefinitions, name), definitionOf(in.AttributeDefinitions, name)
		if old == nil || old.AttributeType == now.AttributeType {
			continue
		}
		return invalidParameter("Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "+
			"Existing schema: %s New schema: %s", d.schemaWith(name), schemaText(x.KeySchema, in.AttributeDefinitions))
	}
	return nil
}

// schemaWith shows the first key schema of the table that has the attribute.
func (d *TableDescription) schemaWith(name string) string {
	keys := d.KeySchema
	for _, x := range slices.Concat(d.LocalIndexes, d.GlobalIndexes) {
		if !slices.Contains(keyNames(keys), name) {
			keys = x.KeySchema
		}
	}
	return schemaText(keys, d.AttributeDefinitions)
}

func schemaText(keys []KeyElement, definitions []AttributeDefinition) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		kind := ""
		if d := definitionOf(definitions, k.AttributeName); d != nil {
			kind = d.AttributeType
		}
		shown[i] = fmt.Sprintf("SchemaElement: key{%s:%s:%s}", k.AttributeName, kind, k.KeyType)
	}
	return "Schema:" + list([]string{strings.Join(shown, ", ")})
}

// checkRoom checks that the table can have one more index.
func (t *table) checkRoom(x *IndexInput) error {
	d := &t.record.Description
	if len(d.GlobalIndexes) >= maxGlobalIndexes {
		return errorf(TypeLimitExceeded, "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of %d", maxGlobalIndexes)
	}
	projected := len(x.Projection.NonKeyAttributes)
	for _, o := range slices.Concat(d.LocalIndexes, d.GlobalIndexes) {
		projected += len(o.NonKey)
	}
	if projected > maxProjected {
		return errProjected()
	}
	if t.record.NextIndexID > maxIndexID {
		return errorf(TypeLimitExceeded, "table %s has had %d indexes, the most in heatsink: copy its items into a new table", t.name, maxIndexID)
	}
	return nil
}

func errProjected() *Error {
	return invalidParameter("Number of NonKeyAttributes in all secondary indexes exceeds per-table limit of %d", maxProjected)
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
