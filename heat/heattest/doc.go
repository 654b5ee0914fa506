// Package heattest fails a test whose program makes a partition hot.
//
// Start runs an engine whose partitions throttle as DynamoDB's do, and records what the test's clients send. When the test
// ends, it fails if a request was throttled, or if package heat finds a problem. The failure has the findings with their
// evidence and remedies, and the hottest keys.
//
//	func TestCheckout(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) { // so that ten minutes of load take a second
//			db := heattest.Start(t, heattest.Options{})
//			shop := NewShop(db.Client())
//			…
//		})
//	}
//
// Check does the same for reports of any source, such as a recorder on a client of your own.
package heattest
