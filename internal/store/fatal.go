package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// fatal ends the process, for a write that is visible but cannot be made durable
// and cannot be undone: whatever were answered from now on might be gone after a
// restart.
//
// It exits rather than panics, because net/http, and whoever embeds the server,
// recovers from panics and would go on serving; and because a panic runs the
// deferred functions of the request that met the trouble, any of which may answer
// it. A new start reads what the disk really has.
func fatal(logger *slog.Logger, text string) {
	defer os.Exit(1) // also if the logger panics
	// A logger that hangs, perhaps on the same disk, must not save us.
	time.AfterFunc(time.Second, func() { os.Exit(1) })
	text = "store: " + text + "; ending the process, as nothing more can be promised"
	if logger == nil {
		fmt.Fprintln(os.Stderr, "heatsink: "+text)
		return
	}
	logger.Error(text)
}

// mustGoOn is deferred around calls into Pebble that write. Pebble panics where
// its log cannot be written or replaced, with its locks held and the write half
// done, in the goroutine of the caller.
func (s *Store) mustGoOn() {
	if !s.durable {
		return // there is no log, so that a panic is a mistake in the program
	}
	p := recover()
	if err, ok := p.(error); ok && errors.Is(err, pebble.ErrClosed) {
		panic(p) // a mistake in the program too
	}
	if p != nil {
		fatal(s.logger, fmt.Sprint("write: ", p))
	}
}

// pebbleLog passes Pebble's complaints on and drops its chatter.
type pebbleLog struct{ to *slog.Logger }

func (l pebbleLog) Infof(string, ...any) {}

func (l pebbleLog) Errorf(format string, args ...any) {
	if l.to != nil {
		l.to.Error("store: " + fmt.Sprintf(format, args...))
	}
}

// Fatalf is called when a write can neither be completed nor undone, as on a
// full disk.
func (l pebbleLog) Fatalf(format string, args ...any) {
	fatal(l.to, fmt.Sprintf(format, args...))
}
