package main

import (
	"fmt"
	"io"
	"os"
)

// screen is where the demo is shown. A terminal has colours and a line that changes; anything else gets plain lines.
type screen struct {
	out      io.Writer
	terminal bool
}

func newScreen(out io.Writer) *screen { return &screen{out, isTerminal(out)} }

func silent() *screen { return &screen{out: io.Discard} }

// isTerminal reports whether escape codes are understood and wanted.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "" || os.Getenv("TERM") == "dumb" || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const (
	clearLine = "\r\x1b[2K"
	green     = "\x1b[32m"
	red       = "\x1b[31m"
	bold      = "\x1b[1m"
	plain     = "\x1b[0m"
)

// say writes a line, in the place of a live one if there is any.
func (s *screen) say(format string, args ...any) {
	s.clear()
	fmt.Fprintf(s.out, format+"\n", args...)
}

// live writes a line that the next one replaces. Without a terminal there is none.
func (s *screen) live(text string) {
	if s.terminal {
		fmt.Fprint(s.out, clearLine+text)
	}
}

// clear removes a live line.
func (s *screen) clear() { s.live("") }

func (s *screen) green(text string) string { return s.painted(green, text) }

func (s *screen) red(text string) string { return s.painted(red, text) }

func (s *screen) bold(text string) string { return s.painted(bold, text) }

func (s *screen) painted(colour, text string) string {
	if !s.terminal || text == "" {
		return text
	}
	return colour + text + plain
}
