package main

import (
	"errors"
	"strings"
)

// reserve is a flag for the bytes of a disk that writes leave free. It holds what
// the engine's options do: 0 for the default, less for none.
type reserve int64

func (r *reserve) Set(text string) error {
	if strings.TrimSpace(text) == "0" {
		*r = -1
		return nil
	}
	var size byteSize
	if err := size.Set(text); err != nil {
		return errors.New("want a size below 2048MB such as 64MB, or 0 to disable it")
	}
	if size < 1<<20 {
		return errors.New("want at least 1MB, or 0 to disable it")
	}
	*r = reserve(size)
	return nil
}

func (r *reserve) String() string { return "" } // the default is said in the usage

func (r *reserve) Type() string { return "size" }
