package failing

import "testing"

func TestFailing(t *testing.T) { t.Error("as ever") }
