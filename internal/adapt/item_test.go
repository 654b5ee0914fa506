package adapt

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

var passage = layout.ControlKey{Role: layout.RolePassage}

// generation returns attempts to store an item of a generation, and how many there were.
func generation(text string) (attempt func() (Attempt, error), count *int) {
	count = new(int)
	return func() (Attempt, error) {
		*count++
		return Attempt{Values: []ledger.Value{{Name: ledger.GenerationName, Number: true, Text: text}}}, nil
	}, count
}

// A control item is created once, and replaced only if it has the generation that was read.
func TestControlItems(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	c := newBook(t, client).control
	if values, stored, err := c.Read(t.Context(), passage); values != nil || stored || err != nil {
		t.Fatalf("got %v, %v, %v before it is created", values, stored, err)
	}
	one, count := generation("1")
	client.Decide(faulty.Script(faulty.LostRequest).Of("PutItem"))
	if created, err := c.Create(t.Context(), passage, one); !created || err != nil || *count != 2 {
		t.Fatalf("got %v, %v after %d attempts", created, err, *count)
	}
	two, _ := generation("2")
	if created, err := c.Create(t.Context(), passage, two); created || err != nil {
		t.Errorf("it is created twice: %v, %v", created, err)
	}
	if replaced, lost, err := c.Replace(t.Context(), passage, 9, two); replaced || lost || err != nil {
		t.Errorf("another generation is replaced: %v, %v, %v", replaced, lost, err)
	}
	if replaced, lost, err := c.Replace(t.Context(), passage, 1, two); !replaced || lost || err != nil {
		t.Errorf("got %v, %v, %v", replaced, lost, err)
	}
	three, _ := generation("3")
	client.Decide(faulty.Script(faulty.LostAnswer).Of("PutItem"))
	if replaced, lost, err := c.Replace(t.Context(), passage, 2, three); replaced || !lost || err != nil { // the second attempt sees the first
		t.Errorf("got %v, %v, %v", replaced, lost, err)
	}
	noted := false
	values, stored, err := c.Read(t.Context(), passage, func(*dynamodb.Options) { noted = true })
	if want := (ledger.Value{Name: ledger.GenerationName, Number: true, Text: "3"}); !slices.Equal(values, []ledger.Value{want}) || !stored || err != nil || !noted {
		t.Errorf("got %v, %v, %v, with its options: %v", values, stored, err, noted)
	}
}

// An attempt that cannot be made is not tried again, and nothing is sent.
func TestControlItemsStop(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	c := newBook(t, client).control
	why := errors.New("not now")
	replaced, lost, err := c.Replace(t.Context(), passage, 1, func() (Attempt, error) { return Attempt{}, why })
	if replaced || lost || !errors.Is(err, why) || dispatch.Judge(err) != dispatch.Rejected || client.Count("PutItem") != 0 {
		t.Errorf("got %v, %v, %v and %d requests", replaced, lost, err, client.Count("PutItem"))
	}
}
