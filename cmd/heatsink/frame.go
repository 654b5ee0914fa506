package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// frame is lines that are drawn again and again in the same place of a terminal. Elsewhere they follow each other.
type frame struct {
	*screen
	drawn int // lines of the last time
}

const (
	noWrap = "\x1b[?7l" // what is longer than a line is cut
	wrap   = "\x1b[?7h"
)

func (f *frame) draw(lines []string) error {
	if !f.terminal {
		_, err := fmt.Fprintln(f.out, strings.Join(lines, "\n"))
		return err
	}
	if height := f.height(); height > 2 && len(lines) >= height { // what scrolled away could not be drawn over
		lines = append(lines[:height-2:height-2], fmt.Sprintf("… %d more lines", len(lines)-height+2))
	}
	var text strings.Builder
	if f.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", f.drawn)
	}
	text.WriteString(noWrap + strings.Join(lines, "\n") + wrap + "\n")
	f.drawn = len(lines)
	_, err := fmt.Fprint(f.out, text.String())
	return err
}

// height returns how many lines the terminal has, 0 if it does not tell.
func (f *frame) height() int {
	file, ok := f.out.(*os.File)
	if !ok {
		return 0
	}
	_, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return height
}
