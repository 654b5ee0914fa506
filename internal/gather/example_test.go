package gather_test

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/heatsink-go/heatsink/internal/gather"
)

// logFile is a log file from some line on: its lines begin with a time, and are in order.
type logFile struct {
	lines []string
	at    int
}

func (f logFile) Fetch(_ context.Context, n int) (gather.Page[string], error) {
	end := min(f.at+n, len(f.lines))
	page := gather.Page[string]{Scanned: end - f.at}
	for _, line := range f.lines[f.at:end] {
		at, text, _ := strings.Cut(line, " ")
		page.Entries = append(page.Entries, gather.Entry[string]{Sort: at, Size: len(line), Value: text})
		page.Size += len(line)
	}
	if end < len(f.lines) {
		page.Next = logFile{f.lines, end}
	}
	return page, nil
}

func (f logFile) From(e gather.Entry[string]) gather.Shard[string] {
	return logFile{f.lines, sort.SearchStrings(f.lines, e.Sort)}
}

func (f logFile) Behind(e gather.Entry[string]) gather.Shard[string] {
	return logFile{f.lines, sort.SearchStrings(f.lines, e.Sort+" "+e.Value) + 1}
}

// The log files of three machines are read as one. The reader has seen enough after five lines.
func Example() {
	files := []gather.Source[string]{
		{Name: "web.log", Ordinal: 0, Shard: logFile{lines: []string{"09:00:01 GET /", "09:00:04 GET /cart", "09:00:09 GET /"}}},
		{Name: "db.log", Ordinal: 1, Shard: logFile{lines: []string{"09:00:01 SELECT", "09:00:05 INSERT"}}},
		{Name: "mail.log", Ordinal: 2, Shard: logFile{lines: []string{"09:00:06 sent"}}},
	}
	g, err := gather.New(context.Background(), gather.Config{Limit: 5}, gather.Stages[string]{
		Count: 1,
		Open:  func(context.Context, int) ([]gather.Source[string], error) { return files, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	for {
		line, ok, err := g.Next()
		if err != nil {
			fmt.Println(err)
		}
		if !ok {
			break
		}
		fmt.Println(line.Sort, files[g.Place().Ordinal].Name, line.Value)
	}
	fmt.Println("more:", g.More())
	// Output:
	// 09:00:01 web.log GET /
	// 09:00:01 db.log SELECT
	// 09:00:04 web.log GET /cart
	// 09:00:05 db.log INSERT
	// 09:00:06 mail.log sent
	// more: true
}
