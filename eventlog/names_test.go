package eventlog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
)

// Names of attributes that would be stored under another name, or not at all, are refused.
func TestNamesThatCannotBe(t *testing.T) {
	client := &dynamodb.Client{}
	for _, name := range []string{"\xff", "a\xc3", strings.Repeat("x", 256), strings.Repeat("y", 70_000)} {
		for what, open := range map[string]func() error{
			"mark": func() error {
				_, err := eventlog.Open[map[string]int](client, eventlog.Options{Table: "t", Mark: name})
				return err
			},
			"ttl": func() error {
				_, err := eventlog.Open[map[string]int](client, eventlog.Options{Table: "t", TTL: name})
				return err
			},
		} {
			if err := open(); !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), "attribute name") {
				t.Errorf("%s of %d bytes: got %v", what, len(name), err)
			}
		}
	}
}
