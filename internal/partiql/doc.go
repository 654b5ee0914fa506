// Package partiql reads PartiQL statements as DynamoDB does, and turns their
// parts into conditions, updates and projections of package expr. It evaluates
// nothing and knows no tables: package engine does what a statement says.
//
// Reading order: lexer.go and keyword.go are about words. node.go and statement.go
// are what a statement is read into, and parser.go and clause.go how. literal.go
// is about values. condition.go, assignment.go and column.go are the parts that
// expr evaluates. plan.go and target.go tell which items a WHERE clause leads to.
package partiql
