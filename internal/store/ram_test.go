package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// What is written to a table file is read back, wherever its chunks meet.
func TestRAMKeepsTableFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRAM()
		w, err := r.Create("000001.sst", "")
		if err != nil {
			rt.Fatal(err)
		}
		var want []byte
		for _, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 4096, chunkSize - 1, chunkSize, chunkSize + 1}), 0, 4).Draw(rt, "lengths") {
			piece := bytes.Repeat([]byte{byte(n), byte(len(want)), 7}, n/3+1)[:n]
			want = append(want, piece...)
			if m, err := w.Write(piece); m != n || err != nil {
				rt.Fatalf("wrote %d of %d, %v", m, n, err)
			}
		}
		f, err := r.Open("000001.sst")
		if err != nil {
			rt.Fatal(err)
		}
		if info, err := f.Stat(); err != nil || info.Size() != int64(len(want)) {
			rt.Fatalf("its size is %d, %v, want %d", info.Size(), err, len(want))
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("read %d bytes, %v, want %d others", len(got), err, len(want))
		}
		at := rapid.IntRange(0, len(want)).Draw(rt, "at")
		got := make([]byte, rapid.IntRange(1, 2*chunkSize).Draw(rt, "length"))
		n, err := f.ReadAt(got, int64(at))
		if more := want[at:]; !bytes.Equal(got[:n], more[:min(len(got), len(more))]) || (err == io.EOF) != (n < len(got)) {
			rt.Fatalf("read %d bytes at %d of %d, %v", n, at, len(want), err)
		}
		if err := errors.Join(w.Close(), f.Close(), r.release()); err != nil {
			rt.Fatal(err)
		}
	})
}

// A file that was removed can be read while it is open, and then its memory goes.
func TestRAMIsReturned(t *testing.T) {
	r := newRAM()
	for _, c := range []struct {
		name string
		end  func(f io.Closer) error
	}{
		{"closed and removed", func(f io.Closer) error { return errors.Join(f.Close(), r.Remove("000001.sst")) }},
		{"removed and closed", func(f io.Closer) error { return errors.Join(r.Remove("000001.sst"), f.Close()) }},
		{"made anew", func(f io.Closer) error {
			again, err := r.Create("000001.sst", "")
			if err != nil {
				return err
			}
			return errors.Join(again.Close(), f.Close())
		}},
		{"the store is closed", func(io.Closer) error { return r.release() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := r.Create("000001.sst", "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte("text")); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := r.Open("000001.sst")
			if err != nil {
				t.Fatal(err)
			}
			p := r.tables["000001.sst"]
			var got [4]byte
			if _, err := f.ReadAt(got[:], 0); err != nil || string(got[:]) != "text" {
				t.Errorf("got %q, %v", got, err)
			}
			if err := c.end(f); err != nil {
				t.Fatal(err)
			}
			if p.chunks != nil {
				t.Error("its memory is still there")
			}
			if _, err := f.ReadAt(got[:], 0); !errors.Is(err, os.ErrClosed) {
				t.Errorf("it can still be read: %v", err)
			}
		})
	}
	w, err := r.Create("000002.sst", "")
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"link": r.Link("000002.sst", "b"), "rename": r.Rename("000002.sst", "b")} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if err := errors.Join(r.Remove("000002.sst"), w.Close()); err != nil || len(r.tables) != 0 && r.tables["000002.sst"] != nil {
		t.Errorf("got %v, and %d files", err, len(r.tables))
	}
}
