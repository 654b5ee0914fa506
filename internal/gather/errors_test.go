package gather

import (
	"context"
	"testing"
)

func TestErrorTexts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{
			&AllowanceError{Sent: 5, Returned: 7, More: 2, Stage: 3},
			"5 requests returned 7 entries, and the next 2 requests, in stage 3, exceed the limit",
		},
		{&MissingError{Shards: []error{errLost, errFatal}, Of: 9, Complete: 4}, "2 of 9 shards missing, the first: lost"},
		{
			&WaitError{Waiting: 2, Of: 3, First: "shard 1", Err: context.Canceled},
			`2 of 3 shards did not answer, the first is "shard 1": context canceled`,
		},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
