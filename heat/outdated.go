package heat

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// outdated notes that an error may mean that tables have changed.
func (r *Recorder) outdated(c *call, err error) {
	var missing *types.ResourceNotFoundException
	var api smithy.APIError
	switch {
	case errors.As(err, &missing):
		r.doubt(c, true)
	case errors.As(err, &api) && api.ErrorCode() == "ValidationException" && keySchema(api.ErrorMessage()):
		r.doubt(c, false)
	}
}

// keySchema reports whether a message says that a request does not fit the keys of its table.
func keySchema(message string) bool {
	for _, text := range [...]string{
		"does not match the schema",         // The provided key element …
		"Missing the key ",                  // … in the item
		"missed key schema element",         // Query condition …
		"does not have the specified index", // The table …
	} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// doubt doubts what is known of the tables of a call that failed, or forgets it: if the only table is missing, or if it
// refuses a key that is made as it is known to be. Who gets keys wrong again and again must not keep the recorder from
// seeing those of others.
func (r *Recorder) doubt(c *call, missing bool) {
	if len(c.parts) == 0 {
		return
	}
	wrong, one := missing, true
	for i := range c.parts {
		p := &c.parts[i]
		wrong = wrong || p.counters.Index == "" && p.item != 0
		one = one && p.counters.Table == c.parts[0].counters.Table
	}
	if wrong && one {
		r.table(c.parts[0].counters.Table).forget()
		return
	}
	for i := range c.parts {
		r.table(c.parts[i].counters.Table).doubt()
	}
}
