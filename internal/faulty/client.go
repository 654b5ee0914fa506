package faulty

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

// Client is a client whose requests go wrong, together with what goes wrong with them.
type Client struct {
	*dynamodb.Client
	*Faults

	// Direct is the client without these faults, for what must not go wrong in a test.
	Direct *dynamodb.Client
}

// TB is what is needed of a testing.TB or a *rapid.T.
type TB interface{ Cleanup(func()) }

// On returns a client like another one, but with faults. When the test ends, requests that are still late are waited for.
func On(t TB, client *dynamodb.Client, decide Decide) *Client {
	faults := New(decide)
	t.Cleanup(faults.Wait)
	return &Client{Client: dynamodb.New(client.Options(), faults.Option), Faults: faults, Direct: client}
}
