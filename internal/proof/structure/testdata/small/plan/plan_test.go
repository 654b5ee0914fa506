package plan

func init() { helper() }

func Again2() {}
