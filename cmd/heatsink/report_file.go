package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/observed"
)

// What one report may have. That of a thousand busy tables has less.
const (
	maxReport    = 64 << 20 // bytes
	maxElements  = 300_000  // of all its lists
	maxResources = 10_000   // elements of lists with this name, and the like
)

// untilDone reads what may never come, such as from a pipe or a terminal. A read ends when ctx does; what it has asked the
// system for stays behind until the process ends.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	type answer struct {
		data []byte
		err  error
	}
	const most = 64 << 10
	done := make(chan answer, 1)
	go func() {
		data := make([]byte, min(len(p), most))
		n, err := r.Reader.Read(data)
		done <- answer{data[:n], err}
	}()
	select {
	case a := <-done:
		return copy(p, a.data), a.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

// openInput opens a file to read. The system lets one who opens a pipe wait for its writer, but no longer than ctx.
func openInput(ctx context.Context, name string) (*os.File, error) {
	type answer struct {
		file *os.File
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		file, err := os.Open(name)
		done <- answer{file, err}
	}()
	select {
	case a := <-done:
		return a.file, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// errTooLong is a report of more than maxReport bytes.
var errTooLong = fmt.Errorf("one report has more than %s bytes (%d MB), the most that is read: record fewer keys, with --top", figure.Thousands(maxReport), maxReport>>20)

// upTo fails once it has read up to a place. io.LimitReader would end there, as if the input did.
type upTo struct {
	io.Reader
	place, end int64
}

func (r *upTo) Read(p []byte) (int, error) {
	if r.place >= r.end {
		return 0, errTooLong
	}
	n, err := r.Reader.Read(p[:min(int64(len(p)), r.end-r.place)])
	r.place += int64(n)
	return n, err
}

// lastDocument reads documents: of the rounds of top, the last is the one that has seen most.
func lastDocument(from io.Reader) (last reportDocument, err error) {
	input := &upTo{Reader: from}
	decoder := json.NewDecoder(input)
	var text json.RawMessage
	for read := 0; ; read++ {
		input.end = decoder.InputOffset() + maxReport
		err := decoder.Decode(&text)
		switch {
		case errors.Is(err, io.EOF) && read == 0:
			return last, errors.New("the input is empty")
		case errors.Is(err, io.EOF):
			if err := checkCrowd(text); err != nil {
				return last, err
			}
			if err := json.Unmarshal(text, &last); err != nil {
				return last, err
			}
			return last, last.check()
		case errors.Is(err, io.ErrUnexpectedEOF):
			return last, fmt.Errorf("the JSON is cut off: %w", err)
		case err != nil:
			return last, err
		}
	}
}

// checkCrowd refuses JSON whose lists have more elements than those of a report. An element of three bytes, "{},", may take more
// than a thousand in memory. The JSON is valid.
func checkCrowd(text []byte) error {
	type level struct {
		name string // before it
		list bool   // not an object
	}
	levels := []level{{}}
	all, large, name := 0, 0, ""
	for i := 0; i < len(text); i++ {
		in := &levels[len(levels)-1]
		switch text[i] {
		case '"':
			from := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if !in.list && i-from < 100 {
				_ = json.Unmarshal(text[from:i+1], &name) // it may have escapes
			}
		case '{', '[':
			levels = append(levels, level{name, text[i] == '['})
		case '}', ']':
			levels = levels[:len(levels)-1]
		case ',':
			if !in.list {
				continue
			}
			all++
			if strings.EqualFold(in.name, "resources") || strings.EqualFold(in.name, "reports") || strings.EqualFold(in.name, "findings") {
				large++
			}
			if large > maxResources {
				return fmt.Errorf("%q has more than %s elements, the most that is read", in.name, figure.Thousands(maxResources))
			}
			if all > maxElements {
				return fmt.Errorf("its lists, such as %q, have more than %s elements together, the most that is read", in.name, figure.Thousands(maxElements))
			}
		}
	}
	return nil
}

// check refuses a document without reports, and reports with figures that nobody has counted. A report as heat makes it is the
// only one of its document.
func (d *reportDocument) check() error {
	if d.Reports == nil {
		d.Reports = append(d.Reports, d.Report)
	}
	if len(d.Reports) == 0 {
		return errNoSource
	}
	for i := range d.Reports {
		if d.Reports[i].Source == "" {
			return errNoSource
		}
		if err := observed.Check(&d.Reports[i]); err != nil {
			return err
		}
	}
	return nil
}

var errNoSource = errors.New("the JSON names no source")
