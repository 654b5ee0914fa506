package session_test

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

// failWrites makes the next writes go wrong, one after another.
func failWrites(faults ...faulty.Fault) faulty.Decide {
	return faulty.Script(faults...).Of("PutItem", "UpdateItem")
}

// writesOf returns the writes that succeeded, to send them again.
func writesOf(client *faulty.Client) []faulty.Request {
	return slices.DeleteFunc(client.Requests(), func(r faulty.Request) bool {
		return !r.Done || r.Operation != "PutItem" && r.Operation != "UpdateItem"
	})
}
