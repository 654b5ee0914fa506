package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outputFile is a file that takes the place of another of its name once all of it is written.
type outputFile struct {
	*os.File
	target string
	direct bool // a device, such as /dev/null, is not replaced
}

// checkOutput returns why a file cannot be written, before the work begins that it is for. A file of that name is left alone.
func checkOutput(name string) error {
	f, err := createOutput(name)
	if err != nil {
		return err
	}
	return f.drop()
}

// writeOutput writes a file. If it fails, a file that was there is still there.
func writeOutput(name string, write func(io.Writer) error) error {
	f, err := createOutput(name)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(f)
	err = write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w: the file is left as it was", name, withoutPath(err)), f.drop())
	}
	return f.keep()
}

// createOutput creates the file that is to take another's place, in the same directory.
func createOutput(name string) (*outputFile, error) {
	f := &outputFile{target: name}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		switch kind := info.Mode().Type(); {
		case kind == 0:
			mode = info.Mode().Perm()
		case kind&fs.ModeCharDevice != 0:
			f.direct = true
			f.File, err = os.OpenFile(name, os.O_WRONLY, 0)
			return f, err
		default: // to open a pipe would wait for its reader
			return nil, fmt.Errorf("%s is not a regular file: give the name of one", name)
		}
		if f.target, err = filepath.EvalSymlinks(name); err != nil { // the link stays
			return nil, err
		}
	}
	beside := f.target + ".tmp-" + rand.Text()[:8]
	var err error
	if f.File, err = os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
		return nil, fmt.Errorf("%s: %w: give a file in a directory that exists and may be written", name, withoutPath(err))
	}
	return f, nil
}

// withoutPath returns why a file failed, without a name that nobody has given.
func withoutPath(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}

// keep puts a file in its place.
func (f *outputFile) keep() error {
	if f.direct {
		return f.Close()
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.target); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// drop removes a file that will not be needed.
func (f *outputFile) drop() error {
	if err := f.Close(); err != nil || f.direct {
		return err
	}
	return os.Remove(f.Name())
}
