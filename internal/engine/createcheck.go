package engine

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxLocalIndexes  = 5
	maxGlobalIndexes = 20
	maxProjected     = 100 // non-key attributes named in all of a table's indexes
	maxPartsOfKind   = 4   // HASH, and RANGE, elements of a global index's key
	maxUnits         = 1_000_000_000_000
)

// validate checks a CreateTable: the parameters one by one, then billing, keys
// and indexes, in the order in which the service does.
func (in *CreateTableInput) validate() error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	var c constraints
	in.constrain(&c)
	if err := c.err(); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	for _, check := range []func() error{
		func() error { return checkTableClass(in.TableClass) },
		in.checkBilling,
		in.checkKeys,
		in.checkDistinct,
		in.checkDefinitions,
		in.checkLocalIndexes,
		in.checkGlobalIndexes,
		in.checkIndexesTogether,
		func() error { return in.Stream.checkNew() },
		func() error { return in.Encryption.check() },
		func() error { return checkTags(in.Tags) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *CreateTableInput) constrain(c *constraints) {
	c.word("billingMode", in.BillingMode, "PROVISIONED", "PAY_PER_REQUEST")
	c.provisioned("provisionedThroughput", in.ProvisionedThroughput)
	c.keySchema("keySchema", in.KeySchema, in.HasKeySchema, 2)
	if c.required("attributeDefinitions", in.HasDefinitions) {
		c.definitions(in.AttributeDefinitions)
	}
	for i := range in.GlobalIndexes {
		at := fmt.Sprintf("globalSecondaryIndexes.%d.member", i+1)
		c.newIndex(at, &in.GlobalIndexes[i], 2*maxPartsOfKind)
		c.provisioned(at+".provisionedThroughput", in.GlobalIndexes[i].ProvisionedThroughput)
	}
	for i := range in.LocalIndexes {
		c.newIndex(fmt.Sprintf("localSecondaryIndexes.%d.member", i+1), &in.LocalIndexes[i], 2)
	}
	c.stream(in.Stream)
	c.encryption("sSESpecification", in.Encryption)
}

// provisioned checks a ProvisionedThroughput; nil: absent.
func (c *constraints) provisioned(at string, p *Throughput) {
	if p == nil {
		return
	}
	c.required(at+".writeCapacityUnits", p.Write != nil)
	c.atLeast(at+".writeCapacityUnits", p.Write, 1)
	c.required(at+".readCapacityUnits", p.Read != nil)
	c.atLeast(at+".readCapacityUnits", p.Read, 1)
}

// keySchema checks the elements of a key schema, of which there may be at most
// that many. A global index's can be longer than the service lets this check
// find: that is another fault, see checkParts.
func (c *constraints) keySchema(at string, elements []KeyElement, present bool, most int) {
	if !c.required(at, present) {
		return
	}
	shown := make([]string, len(elements))
	for i, e := range elements {
		shown[i] = fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)", e.AttributeName, e.KeyType)
	}
	value := "'[" + strings.Join(shown, ", ") + "]'"
	if len(elements) < 1 {
		c.fault(value, at, "Member must have length greater than or equal to 1")
	}
	if most == 2 && len(elements) > 2 {
		c.fault(value, at, "Member must have length less than or equal to 2")
	}
	for i, e := range elements {
		member := fmt.Sprintf("%s.%d.member", at, i+1)
		c.attributeName(member+".attributeName", e.AttributeName)
		if c.required(member+".keyType", e.KeyType != "") {
			c.enum(member+".keyType", e.KeyType, "HASH", "RANGE")
		}
	}
}

func (c *constraints) attributeName(at, name string) {
	if c.required(at, name != "") {
		c.text(at, &name, 1, 255, false)
	}
}

func (c *constraints) definitions(list []AttributeDefinition) {
	for i, d := range list {
		at := fmt.Sprintf("attributeDefinitions.%d.member", i+1)
		if c.required(at+".attributeType", d.AttributeType != "") {
			c.enum(at+".attributeType", d.AttributeType, "B", "N", "S")
		}
		c.attributeName(at+".attributeName", d.AttributeName)
	}
}

func (c *constraints) newIndex(at string, x *IndexInput, mostKeys int) {
	if c.required(at+".indexName", x.IndexName != nil) {
		c.text(at+".indexName", x.IndexName, 3, 255, false)
		if name := *x.IndexName; name == "" || !isName(name) {
			c.fault("'"+name+"'", at+".indexName", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
		}
	}
	c.keySchema(at+".keySchema", x.KeySchema, x.HasKeySchema, mostKeys)
	if !c.required(at+".projection", x.Projection != nil) {
		return
	}
	c.word(at+".projection.projectionType", x.Projection.Type, "ALL", "INCLUDE", "KEYS_ONLY")
	if x.Projection.HasNonKey {
		names := x.Projection.NonKeyAttributes
		value := "'[" + strings.Join(names, ", ") + "]'"
		if len(names) < 1 {
			c.fault(value, at+".projection.nonKeyAttributes", "Member must have length greater than or equal to 1")
		}
		if len(names) > 20 {
			c.fault(value, at+".projection.nonKeyAttributes", "Member must have length less than or equal to 20")
		}
		for i := range names {
			c.text(fmt.Sprintf("%s.projection.nonKeyAttributes.%d.member", at, i+1), &names[i], 1, 255, false)
		}
	}
}

func (c *constraints) stream(s *StreamSpecification) {
	if s == nil {
		return
	}
	c.required("streamSpecification.streamEnabled", s.Enabled != nil)
	c.word("streamSpecification.streamViewType", s.ViewType, "OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE")
}

func (s *StreamSpecification) checkNew() error {
	switch {
	case s == nil:
	case *s.Enabled && s.ViewType == nil:
		return invalidParameter("Table is being created with a stream enabled, UpdateViewType is required")
	case !*s.Enabled && s.ViewType != nil:
		return invalidParameter("Table is being created with a stream disabled, UpdateViewType should not be specified")
	}
	return nil
}

func checkTableClass(class *string) error {
	if class == nil || *class == "STANDARD" || *class == "STANDARD_INFREQUENT_ACCESS" {
		return nil
	}
	return invalid("Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].")
}

// checkKeys checks the table's own key against the definitions.
func (in *CreateTableInput) checkKeys() error {
	if err := in.checkDefinedOnce(); err != nil {
		return err
	}
	if len(in.KeySchema) > len(in.AttributeDefinitions) {
		return invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	if err := in.checkDefined(in.KeySchema); err != nil {
		return err
	}
	return checkPair(in.KeySchema)
}

// checkDefinedOnce checks that no attribute is defined twice.
func (in *CreateTableInput) checkDefinedOnce() error {
	seen := map[string]bool{}
	for _, d := range in.AttributeDefinitions {
		if seen[d.AttributeName] {
			return invalid("Attribute Name is duplicated: %s", d.AttributeName)
		}
		seen[d.AttributeName] = true
	}
	return nil
}

// checkDefined checks that a key's attributes have a definition.
func (in *CreateTableInput) checkDefined(keys []KeyElement) error {
	for _, k := range keys {
		if !slices.ContainsFunc(in.AttributeDefinitions, func(d AttributeDefinition) bool { return d.AttributeName == k.AttributeName }) {
			return invalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s",
				list(keyNames(keys)), list(definedNames(in.AttributeDefinitions)))
		}
	}
	return nil
}

func list(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

func keyNames(keys []KeyElement) (names []string) {
	for _, k := range keys {
		names = append(names, k.AttributeName)
	}
	return names
}

func definedNames(definitions []AttributeDefinition) (names []string) {
	for _, d := range definitions {
		names = append(names, d.AttributeName)
	}
	return names
}

func sortDefinitions(list []AttributeDefinition) {
	slices.SortFunc(list, func(a, b AttributeDefinition) int { return strings.Compare(a.AttributeName, b.AttributeName) })
}

// checkPair checks the key of a table or local index: HASH, then RANGE or
// nothing.
func checkPair(keys []KeyElement) error {
	if keys[0].KeyType != "HASH" {
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	if len(keys) < 2 {
		return nil
	}
	if keys[0].AttributeName == keys[1].AttributeName {
		return errSameNames()
	}
	if keys[1].KeyType != "RANGE" {
		return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	return nil
}

func errSameNames() *Error {
	return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
}

// checkParts checks the key of a global index: up to four HASH, then up to four
// RANGE attributes.
func checkParts(keys []KeyElement) error {
	if keys[0].KeyType != "HASH" {
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	count := map[string]int{}
	for _, k := range keys {
		if k.KeyType == "HASH" && count["RANGE"] > 0 {
			return invalidParameter("All HASH key attributes must precede RANGE key attributes in the KeySchema")
		}
		count[k.KeyType]++
	}
	for _, kind := range []string{"HASH", "RANGE"} {
		if count[kind] > maxPartsOfKind {
			return invalidParameter("The KeySchema exceeds the maximum allowed number of %s key attributes", kind)
		}
	}
	return nil
}
