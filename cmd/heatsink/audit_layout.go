package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// defaultTemplate is how shards are spelt if only their number is given.
var defaultTemplate = "{key}" + strings.TrimPrefix(heatsink.Format{}.String(), "{key}#{bucket}")

// told returns the layouts that flags tell of.
func (a *audit) told() ([]heat.Layout, error) {
	templates := a.layouts
	if len(a.shards) == 0 {
		return nil, nil // that --layout does nothing then is said elsewhere
	}
	if len(templates) == 0 {
		templates = []string{defaultTemplate}
	}
	if len(a.shards) > 1 && len(a.shards) != len(templates) {
		return nil, fmt.Errorf("--shards has %d numbers for %s: give one for all, or one for each",
			len(a.shards), figure.Count(len(templates), "layout"))
	}
	var layouts []heat.Layout
	var faults []error
	for i, text := range templates {
		l, err := a.layout(text, a.shards[min(i, len(a.shards)-1)])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		layouts = append(layouts, l)
	}
	if faults == nil {
		faults = append(faults, heat.Options{Layouts: layouts}.Validate())
	}
	return layouts, errors.Join(faults...)
}

// checkIndexes returns an error if a layout is of an index that no source would look at: one that the table does not have or,
// of an export alone, one whose key is not given.
func (a *audit) checkIndexes(ctx context.Context, c clients) error {
	layouts, err := a.told()
	if err != nil {
		return err
	}
	if c.tables != nil {
		err := heat.CheckLayouts(ctx, c.tables, a.table, layouts...)
		if errors.Is(err, heat.ErrNoIndex) {
			return fmt.Errorf("--layout: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return nil // that the table cannot be looked up is said by each source, and an export does not need it
	}
	keys, err := a.exportKeys()
	if err != nil {
		return err
	}
	for _, l := range layouts {
		if _, given := keys[a.table+"/"+l.Index]; l.Index != "" && !given {
			return fmt.Errorf("--layout of index %q does nothing: --key %s=NAME would say which attribute is its key", l.Index, l.Index)
		}
	}
	return nil
}

// layout reads TEMPLATE or INDEX=TEMPLATE.
func (a *audit) layout(text string, shards int) (heat.Layout, error) {
	index, template := "", text
	if name, rest, of := strings.Cut(text, "={key}"); of && !strings.HasPrefix(text, "{key}") {
		if name == "" {
			return heat.Layout{}, fmt.Errorf("--layout %q names no index: TEMPLATE or INDEX=TEMPLATE is expected", text)
		}
		index, template = name, "{key}"+rest
	}
	format, err := heatsink.ParseFormat(template)
	if err != nil {
		return heat.Layout{}, fmt.Errorf("--layout %q: %w", text, err)
	}
	if !strings.Contains(template, "{shard") {
		return heat.Layout{}, fmt.Errorf("--layout %q has no {shard}: a table whose keys have no shards needs no --layout", text)
	}
	l := heat.Layout{
		Resource: heat.Resource{Table: a.table, Index: index}, Shards: shards, Widths: a.widths, Unsharded: a.unsharded,
		Prefix: format.ShardPrefix, First: format.First, Width: format.Width, BareZero: format.BareZero,
		BucketPrefix: format.BucketPrefix, HourMark: format.HourMark,
	}
	if strings.Contains(template, "{bucket") {
		l.Bucket = "any"
	}
	if err := l.Validate(); err != nil {
		return heat.Layout{}, fmt.Errorf("--shards %d: %w", shards, err)
	}
	return l, nil
}
