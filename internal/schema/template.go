package schema

import (
	"fmt"
	"strings"
)

// CloudFormation returns the table as a resource of a CloudFormation template.
func (t Table) CloudFormation() string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	key := func(indent int, k Key) {
		line(indent, "KeySchema:")
		for i, attribute := range k.attributes() {
			line(indent+1, "- { AttributeName: %s, KeyType: %s }", attribute.Name, [...]string{"HASH", "RANGE"}[i])
		}
	}
	line(0, "Table:")
	line(1, "Type: AWS::DynamoDB::Table")
	line(1, "Properties:")
	line(2, "TableName: %s", t.Name)
	line(2, "BillingMode: PAY_PER_REQUEST")
	line(2, "AttributeDefinitions:")
	for _, attribute := range t.attributes() {
		line(3, "- { AttributeName: %s, AttributeType: %s }", attribute.Name, attribute.Type)
	}
	key(2, t.Key)
	if len(t.Indexes) > 0 {
		line(2, "GlobalSecondaryIndexes:")
	}
	for _, index := range t.Indexes {
		line(3, "- IndexName: %s", index.Name)
		line(4, "Projection: { ProjectionType: ALL }")
		key(4, index.Key)
	}
	if t.TTL != "" {
		line(2, "TimeToLiveSpecification: { AttributeName: %s, Enabled: true }", t.TTL)
	}
	return b.String()
}

// Terraform returns the table as a resource of Terraform's AWS provider.
func (t Table) Terraform() string {
	var b strings.Builder
	fmt.Fprintf(&b, "resource \"aws_dynamodb_table\" %q {\n", strings.ReplaceAll(t.Name, ".", "_"))
	assign(&b, "  ", [][2]string{{"name", t.Name}, {"billing_mode", "PAY_PER_REQUEST"}}, t.Key)
	for _, attribute := range t.attributes() {
		fmt.Fprintf(&b, "\n  attribute {\n    name = %q\n    type = %q\n  }\n", attribute.Name, attribute.Type)
	}
	for _, index := range t.Indexes {
		b.WriteString("\n  global_secondary_index {\n")
		assign(&b, "    ", [][2]string{{"name", index.Name}, {"projection_type", "ALL"}}, index.Key)
		b.WriteString("  }\n")
	}
	if t.TTL != "" {
		fmt.Fprintf(&b, "\n  ttl {\n    attribute_name = %q\n    enabled        = true\n  }\n", t.TTL)
	}
	b.WriteString("}\n")
	return b.String()
}

// assign writes arguments and the names of a key, their values below each other as terraform fmt has them.
func assign(b *strings.Builder, indent string, arguments [][2]string, key Key) {
	arguments = append(arguments, [2]string{"hash_key", key.Partition.Name})
	if key.Sort.Name != "" {
		arguments = append(arguments, [2]string{"range_key", key.Sort.Name})
	}
	width := 0
	for _, argument := range arguments {
		width = max(width, len(argument[0]))
	}
	for _, argument := range arguments {
		fmt.Fprintf(b, "%s%-*s = %q\n", indent, width, argument[0], argument[1])
	}
}
