package replica_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// What readers cannot heal is in the log: a copy that another program wrote, and one that cannot be written.
func TestLog(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		options := replica.Options{Copies: 1, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		client := setup(t, options)
		posts := openOn(t, client, options)
		put(t, posts, "viral", "one")
		time.Sleep(2 * time.Minute)
		client.Decide(on(faulty.Denied, "PutItem", copyKey("viral", 0)))
		if got := title(posts, "viral"); got != "one" {
			t.Errorf("got %q", got)
		}
		store(t, client.Direct, heatsink.Item{"id": text(copyKey("viral", 0)), "price": number(3)})
		if got := title(posts, "viral"); got != "one" {
			t.Errorf("got %q", got)
		}
		said := log.String()
		for _, want := range []string{
			`msg="copy not refreshed" table=posts copy=viral#SHARD_0 reason=`, `msg="copy cannot be used" table=posts copy=viral#SHARD_0 reason=`,
		} {
			if !strings.Contains(said, want) {
				t.Errorf("no %s in\n%s", want, said)
			}
		}
		if n := strings.Count(said, `msg="copy not refreshed" table=posts copy=viral#SHARD_0 `); n != 2 { // of the strange copy, too
			t.Errorf("%d of 2 refreshes that failed are in\n%s", n, said)
		}
	})
}

// A conflict is known after one request, and says which version there is.
func TestConflictsAreFoundAtOnce(t *testing.T) {
	client := setup(t, replica.Options{Copies: 1})
	posts := openOn(t, client, replica.Options{Copies: 1})
	put(t, posts, "viral", "one")
	for want, option := range map[string]replica.WriteOption{"it must not exist, and has version ": replica.IfVersion(0), ", want 7": replica.IfVersion(7)} {
		before := len(client.Requests())
		_, err := posts.Put(t.Context(), "viral", post{}, option)
		if sent := len(client.Requests()) - before; sent != 1 || !errors.Is(err, replica.ErrConflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d requests, %v, want one and %q", sent, err, want)
		}
	}
	// A tombstone of a clock that is ahead is no conflict: the item must not exist, and does not.
	if _, err := posts.Delete(t.Context(), "viral"); err != nil {
		t.Fatal(err)
	}
	end := stored(t, client.Direct, "viral")
	ahead := time.Now().Add(time.Hour).UnixMicro()
	end["version"] = number(ahead)
	store(t, client.Direct, end)
	if version, err := openOn(t, client, replica.Options{Copies: 1}).Put(t.Context(), "viral", post{}, replica.IfVersion(0)); err != nil || version != replica.Version(ahead)+1 {
		t.Errorf("got %d, %v, want %d", version, err, ahead+1)
	}
}
