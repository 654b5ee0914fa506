package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/heatsink-go/heatsink/internal/console"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// interactive reports whether there is somebody at a terminal that can draw.
func interactive(in io.Reader, out io.Writer) bool {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return false
	}
	input, ok := in.(*os.File)
	output, ok2 := out.(*os.File)
	return ok && ok2 && term.IsTerminal(int(input.Fd())) && term.IsTerminal(int(output.Fd()))
}

// knowsUTF8 reports whether the terminal shows more than ASCII, as far as the environment tells.
func knowsUTF8() bool {
	locale := strings.ToUpper(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"), "UTF-8"))
	return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
}

// interact runs the screen until the user quits, the time is over or ctx ends. Neither is an error. The terminal is as it was
// before whenever interact returns.
func (t *top) interact(ctx context.Context, cmd *cobra.Command, feed topFeed) error {
	running, stop := context.WithCancel(ctx)
	if t.last > 0 {
		running, stop = context.WithTimeout(ctx, t.last)
	}
	defer stop()
	model := console.New(console.Options{Table: t.table, Keys: t.keys, Layouts: t.told, ASCII: !knowsUTF8()})
	program := tea.NewProgram(model, tea.WithInput(cmd.InOrStdin()), tea.WithOutput(cmd.OutOrStdout()), tea.WithoutSignalHandler())
	defer context.AfterFunc(running, program.Quit)() // signals end ctx, see main
	var feeding sync.WaitGroup
	feeding.Go(func() { read(running, feed) })
	feeding.Go(func() { t.poll(running, feed, program) })
	_, err := program.Run()
	stop()
	feeding.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// poll hands rounds to the program, or says why there is none, and goes on.
func (t *top) poll(ctx context.Context, feed topFeed, program *tea.Program) {
	for ctx.Err() == nil {
		pause := t.every
		r, err := feed.round(ctx)
		switch {
		case err == nil:
			program.Send(r)
		case ctx.Err() == nil:
			program.Send(console.Lost{Err: err})
			pause = max(pause, retryPause)
		}
		_ = dispatch.Sleep(ctx, pause) // the loop ends with ctx
	}
}

// read lets the feed read, and again if it fails.
func read(ctx context.Context, feed topFeed) {
	for ctx.Err() == nil {
		_ = feed.run(ctx)                   // the next round says why it ended
		_ = dispatch.Sleep(ctx, retryPause) // the loop ends with ctx
	}
}

// retryPause is between two attempts to reach a server that is lost.
const retryPause = time.Second
