// Package plan exports four types and two functions.
package plan

type Advice struct{}

type (
	Cost  int
	Same  = Cost
	Small interface{ Method() }
	own   int
)

const Constant = 1

var Variable = func() {}

func New() own           { return 0 }
func Again() Advice      { return Advice{} }
func helper()            {}
func (Advice) Exported() {}
