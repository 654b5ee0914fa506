package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// defaultTemplate is how shards are spelt if only their number is given.
var defaultTemplate = layout.Layout{Shards: 1}.Template()

// told returns the layouts that the flags describe.
func (a *audit) told() ([]heat.Layout, error) {
	templates := a.layouts
	if len(a.shards) == 0 {
		return nil, nil // idle reports a --layout that does nothing
	}
	if len(templates) == 0 {
		templates = []string{defaultTemplate}
	}
	if len(a.shards) > 1 && len(a.shards) != len(templates) {
		return nil, fmt.Errorf("--shards has %d numbers for %s: give one number for all, or one for each",
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

// checkIndexes returns an error if no source would read the index of a layout: the table does not have it or, with an export
// alone, --key does not give its key.
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
		return nil // each source reports a table that it cannot find, and an export needs none
	}
	keys, err := a.exportKeys()
	if err != nil {
		return err
	}
	for _, l := range layouts {
		if _, given := keys[a.table+"/"+l.Index]; l.Index != "" && !given {
			return fmt.Errorf("--layout of index %q does nothing: give its partition key with --key %s=NAME", l.Index, l.Index)
		}
	}
	return nil
}

// layout reads TEMPLATE or INDEX=TEMPLATE.
func (a *audit) layout(text string, shards int) (heat.Layout, error) {
	index, template := "", text
	if name, rest, of := strings.Cut(text, "={key}"); of && !strings.HasPrefix(text, "{key}") {
		if name == "" {
			return heat.Layout{}, fmt.Errorf("--layout %q names no index: want TEMPLATE or INDEX=TEMPLATE", text)
		}
		index, template = name, "{key}"+rest
	}
	format, err := layout.ParseFormat(template)
	if err != nil {
		return heat.Layout{}, fmt.Errorf("--layout %q: %w", text, err)
	}
	if !strings.Contains(template, "{shard") {
		return heat.Layout{}, fmt.Errorf("--layout %q has no {shard}: leave it out for a table without shards", text)
	}
	l := heat.Layout{
		Resource: heat.Resource{Table: a.table, Index: index}, Layout: layout.Layout{Shards: shards, Format: format},
		AnyBucket: strings.Contains(template, "{bucket"), Widths: a.widths, Unsharded: a.unsharded,
	}
	if err := l.Validate(); err != nil {
		return heat.Layout{}, fmt.Errorf("--shards %d: %w", shards, err)
	}
	return l, nil
}
