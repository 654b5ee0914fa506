package carry

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// ReadBoth finds what Operate finds, in the time of one request, or says that it cannot tell. A home that decides alone is enough.
func TestReadBoth(t *testing.T) {
	for name, c := range map[string]struct {
		phase    forward.Phase
		old, new string // marks; "-" for a plain item, "" for nothing
		decided  bool
		want     forward.Outcome
		home     forward.Home
		sight    forward.Where
	}{
		"not moved":           {forward.Split, "-", "", true, forward.Found, forward.Old, forward.InOld},
		"moved":               {forward.Split, "s", "-", true, forward.Found, forward.New, forward.InNew},
		"absent":              {forward.Split, "", "", true, forward.Missing, forward.Old, forward.Nowhere},
		"deleted":             {forward.Closed, "s", "d", true, forward.Missing, forward.Old, forward.InNew},
		"frozen":              {forward.Split, "z", "", true, forward.Found, forward.Old, forward.Unseen},
		"a stub alone":        {forward.Split, "s", "", false, forward.Running, forward.Old, forward.Unseen},
		"of a later stage":    {forward.Split, "", "y1", true, forward.Stale, forward.Old, forward.Unseen},
		"back, has not moved": {forward.Back, "-", "", true, forward.Found, forward.Old, forward.InOld},
		"back, has moved":     {forward.Back, "s", "-", true, forward.Found, forward.New, forward.InNew},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h := newHouse(t, nil)
				for home, mark := range map[string]string{"a": c.old, "b": c.new} {
					switch mark {
					case "":
					case "-":
						h.store(home, "id", 5, "")
					case "d":
						dead := key(home, "id")
						dead["_hs_d"] = &types.AttributeValueMemberBOOL{Value: true}
						if _, err := h.client.Direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: dead}); err != nil {
							t.Fatal(err)
						}
					case "s":
						h.store(home, "id", 0, mark)
					default:
						h.store(home, "id", 5, mark)
					}
				}
				u, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", "id"), ConsistentRead: aws.Bool(true)})
				if err != nil {
					t.Fatal(err)
				}
				at := h.place(c.phase, "id")
				h.client.Delay(faulty.Exactly(10 * time.Millisecond))
				began := time.Now()
				r, decided, err := h.carrier.ReadBoth(t.Context(), at, u)
				if took := time.Since(began); took > 10*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				if (c.want == forward.Stale) != errors.Is(err, ErrStale) || c.want != forward.Stale && err != nil {
					t.Fatalf("got %v", err)
				}
				if decided != c.decided || err == nil && (r.Outcome != c.want || r.Home != c.home || r.Sight.At != c.sight) {
					t.Errorf("got %+v, decided: %v", r, decided)
				}
			})
		})
	}
}

// Nobody waits for a home that is not needed, nor fails because of it. One that is needed and fails is an error.
func TestReadBothNeedsOne(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, func(r faulty.Request) faulty.Fault {
			if r.Key("pk") == "a" && r.Key("sk") != "slow" {
				return faulty.Denied
			}
			return faulty.None
		})
		h.client.Delay(func(r faulty.Request) time.Duration {
			if r.Key("pk") == "a" && r.Key("sk") == "slow" {
				return time.Minute
			}
			if r.Key("pk") == "b" && r.Key("sk") == "fails first" {
				return 10 * time.Millisecond
			}
			return time.Millisecond
		})
		for _, id := range []string{"slow", "fails", "fails first"} {
			h.store("b", id, 5, "")
		}
		read := func(id string) (Result, bool, error) {
			u, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", id)})
			if err != nil {
				t.Fatal(err)
			}
			return h.carrier.ReadBoth(t.Context(), h.place(forward.Split, id), u)
		}
		for _, id := range []string{"slow", "fails", "fails first"} {
			began := time.Now()
			r, decided, err := read(id)
			if err != nil || !decided || r.Outcome != forward.Found || time.Since(began) > time.Second {
				t.Errorf("%s: got %+v, %v, %v after %v", id, r, decided, err, time.Since(began))
			}
		}
		if r, decided, err := read("absent"); err == nil || !decided { // else the caller reads again, and loses the error
			t.Errorf("the old home has failed, and the new one does not decide: got %+v, %v, %v", r, decided, err)
		}
	})
}
