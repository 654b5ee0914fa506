package layout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A width in an environment variable: 4 shards are written, and 16 are read.
func ExampleWidth() {
	os.Setenv("VIEWS_WIDTH", "4/16")
	defer os.Unsetenv("VIEWS_WIDTH")
	var width layout.Width
	if err := width.UnmarshalText([]byte(os.Getenv("VIEWS_WIDTH"))); err != nil {
		log.Fatal(err)
	}
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	views, err := heatsink.Open[heatsink.Item](db.Client(), heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk", Widths: width,
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := views.Plan(context.Background(), heatsink.Query{Key: "PAGE_VIEWS"})
	fmt.Println(width, plan.Shards, err)

	fmt.Println(width.UnmarshalText([]byte("16/4")))
	// Output:
	// 4/16 16 <nil>
	// invalid width 16/4: more shards are written than read, so reads would miss items: raise Read, or lower Write
}

// Widths from a configuration file: one key is about to get more shards, and all others have one.
func ExampleWidthTable() {
	var table layout.WidthTable
	if err := json.Unmarshal([]byte(`{"default": "1", "keys": {"PAGE_VIEWS": "4/16"}}`), &table); err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"PAGE_VIEWS", "CLICKS"} {
		width, err := table.Width(context.Background(), key, time.Time{})
		fmt.Println(key, width, err)
	}
	// Output:
	// PAGE_VIEWS 4/16 <nil>
	// CLICKS 1 <nil>
}

// A configuration that is loaded again while collections use it cannot skip the step in which the new shards are only read.
func ExampleLiveWidths() {
	var widths layout.LiveWidths // for Options.Widths: &widths
	for _, width := range []layout.Width{{Write: 4, Read: 4}, {Write: 16, Read: 16}, {Write: 4, Read: 16}, {Write: 16, Read: 16}} {
		err := widths.Replace(layout.WidthTable{Default: width})
		fmt.Println(width, err == nil, errors.Is(err, layout.ErrWidth))
	}
	// Output:
	// 4 true false
	// 16 false true
	// 4/16 true false
	// 16 true false
}
