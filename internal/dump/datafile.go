package dump

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// fileWriter writes a data file.
type fileWriter struct {
	file  *os.File
	sum   hash.Hash
	zip   *gzip.Writer
	line  []byte
	items int64
	bytes int64 // before compression
}

func newFileWriter(path string) (*fileWriter, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{file: file, sum: md5.New()}
	w.zip = gzip.NewWriter(io.MultiWriter(file, w.sum))
	return w, nil
}

func (w *fileWriter) add(it Item) (err error) {
	if w.line, err = appendLine(w.line[:0], it); err != nil {
		return err
	}
	w.items++
	w.bytes += int64(len(w.line))
	_, err = w.zip.Write(w.line)
	return err
}

// close makes the file durable, and returns its line of the manifest.
func (w *fileWriter) close() (dataFile, error) {
	err := errors.Join(w.zip.Close(), w.file.Sync(), w.file.Close())
	sum := w.sum.Sum(nil)
	return dataFile{ItemCount: w.items, MD5: base64.StdEncoding.EncodeToString(sum), ETag: hex.EncodeToString(sum)}, err
}

// discard closes a file that is of no use.
func (w *fileWriter) discard() error { return errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

// verifyFile compares a data file with its MD5.
func verifyFile(ctx context.Context, path, want string) error {
	if err := checkRegular(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	sum := md5.New()
	_, err = io.Copy(sum, &cancelled{ctx, file})
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s: its MD5 is %s, but the manifest says %s: the file is damaged or cut off; copy it again", path, got, want)
	}
	return nil
}

// cancelled is a reader that ends with a context.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// readLines calls take with each line of a data file that is not empty, and its number. It returns how many there were.
func readLines(ctx context.Context, path string, take func(number int, line string) error) (lines int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return scanLines(path, &cancelled{ctx, file}, take)
}

// wrongLine is the error of a line that cannot be read.
type wrongLine struct{ error }

func scanLines(name string, from io.Reader, take func(number int, line string) error) (taken int64, err error) {
	plain := bufio.NewReader(from)
	var text io.Reader = plain
	if head, _ := plain.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return 0, fmt.Errorf("%s: not a data file of an export: %w", name, err)
		}
		text = unzipped
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := take(n, lines.Text()); err != nil {
			if !errors.As(err, new(wrongLine)) {
				return taken, err
			}
			if broken := lines.Err(); broken != nil { // a file that breaks off ends with half a line
				err = broken
			}
			return taken, lineError(name, n, err)
		}
		taken++
	}
	if err := lines.Err(); err != nil {
		return taken, lineError(name, n, err)
	}
	return taken, nil
}

func lineError(name string, line int, err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line is longer than %d MB, more than any item", maxLine>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the file is cut off: %w", err)
	}
	return fmt.Errorf("%s, line %d: not an item in DynamoDB JSON: %w", name, line, err)
}
