package leaderboard

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// A sum that is refused after an answer was lost may still be added, by the attempt that is on its way: nobody may be told
// that nothing was.
func TestRefusedAfterALostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		options := Options{Table: "boards", Mode: Sum}
		if err := Setup(t.Context(), db.Client(), options); err != nil {
			t.Fatal(err)
		}
		client := faulty.On(t, db.Client(), nil)
		client.Delay(faulty.Exactly(time.Minute).Of(faulty.Late))
		board, err := open(t, client, options).Board("x")
		if err != nil {
			t.Fatal(err)
		}
		submit := func(score int64, id string) error {
			_, err := board.Submit(t.Context(), Submission{Player: "a", Score: score, ID: id})
			return err
		}
		if err := submit(math.MaxInt64, "1"); err != nil {
			t.Fatal(err)
		}
		if err := submit(10, "2"); !errors.Is(err, ErrOverflow) || errors.As(err, new(*heatsink.UnknownOutcomeError)) {
			t.Errorf("without a fault: got %v, want ErrOverflow", err)
		}
		client.Decide(faulty.Script(faulty.Late).Of("TransactWriteItems"))
		if err := submit(10, "3"); errors.Is(err, ErrOverflow) || !errors.As(err, new(*heatsink.UnknownOutcomeError)) {
			t.Errorf("after a lost answer: got %v, want an unknown outcome", err)
		}
	})
}
