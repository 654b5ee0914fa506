package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// speeds are the requests that are compared, and how many of them make a turn.
var speeds = []struct {
	operation string
	calls     int
	send      func(context.Context, *dynamodb.Client, int) error
}{
	{"GetItem", 100, getItem},
	{"PutItem", 10, putItem},
	{"Query", 20, queryItems},
}

// directories compares a directory of many items with one of a few.
func directories(ctx context.Context, o Options) (figures []scenario.Figure, err error) {
	root, err := os.MkdirTemp(o.Dir, "heatsink-scale-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	dir, killed := filepath.Join(root, "many"), filepath.Join(root, "killed")
	began := time.Now()
	if err := fill(ctx, dir, o.Items, func() error { return copyAsKilled(dir, killed) }); err != nil {
		return nil, err
	}
	figures = append(figures, scenario.Figure{
		What: "items written to a directory", After: fmt.Sprintf("%d, %.0f a second", o.Items, float64(o.Items)/time.Since(began).Seconds()), Holds: true,
	})
	for _, d := range []struct{ dir, what string }{{dir, "a Close"}, {killed, "a kill"}} {
		took, err := openings(d.dir, o.Items)
		if err != nil {
			return figures, err
		}
		figures = append(figures, atMost("open a directory of many items after "+d.what, "ms", float64(took.Milliseconds()), 1000))
	}
	many, err := openBed(dir, o.Items)
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, many.db.Close()) }()
	if err := fill(ctx, filepath.Join(root, "few"), o.Few, func() error { return nil }); err != nil {
		return figures, err
	}
	few, err := openBed(filepath.Join(root, "few"), o.Few)
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, few.db.Close()) }()
	for _, kind := range speeds {
		of := func(b *bed) func() error {
			client := b.db.Client()
			return repeat(kind.calls, func(n int) error {
				return kind.send(ctx, client, int(uint64(n)*7_368_787%uint64(b.items)))
			})
		}
		speed, err := alternate(ctx, o.Rounds, wallTime, of(many), of(few))
		if err != nil {
			return figures, err
		}
		figures = append(figures, atLeast(kind.operation+" through the SDK with many items in a directory: speed / with few", speed, 0.7))
	}
	return figures, nil
}

// openings returns how long it takes to open a directory, the first time: a second one would find it as a Close left it.
func openings(dir string, items int) (time.Duration, error) {
	began := time.Now()
	b, err := openBed(dir, items)
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, b.db.Close()
}

// copyAsKilled makes a directory that is as another one would be if its process were killed now. What it has acknowledged is in
// its files. Table files never change, so that they are shared.
func copyAsKilled(from, to string) error {
	for range 600 { // until no compaction changes the files meanwhile
		before, err := listing(from)
		if err != nil {
			return err
		}
		if err := copyFiles(from, to, before); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		after, err := listing(from)
		if err != nil || maps.Equal(before, after) {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
	return fmt.Errorf("copy %s: its files change all the time", from)
}

// listing has the sizes of a directory's files.
func listing(dir string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		sizes[name] = info.Size()
		return err
	})
	return sizes, err
}

func copyFiles(from, to string, names map[string]int64) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(to, "db"), 0o700); err != nil {
		return err
	}
	for name := range names {
		source, target := filepath.Join(from, name), filepath.Join(to, name)
		if strings.HasSuffix(name, ".sst") && os.Link(source, target) == nil {
			continue
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(source, target string) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
