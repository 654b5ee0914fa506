package heatpage

import (
	"maps"
	"slices"
	"time"
)

// levels are the columns that a history keeps: seconds of the last minutes, longer ones of before. A column of a level is merged
// from whole columns of the one above it, so each span is a multiple of the one before. A column has the cells of its hottest keys.
var levels = [...]struct {
	span  time.Duration
	keep  int
	cells int
}{
	{time.Second, 180, 2000},
	{10 * time.Second, 180, 1000},
	{time.Minute, 360, 500},
}

// cellsOf returns how many keys have cells in a column of a span.
func cellsOf(span time.Duration) int {
	for _, level := range levels {
		if level.span == span {
			return level.cells
		}
	}
	return levels[0].cells
}

// cell is what a row took in a column.
type cell struct{ units, refused float64 }

func (c cell) plus(d cell) cell { return cell{c.units + d.units, c.refused + d.refused} }

// column is a range of time. What is not in it took nothing.
type column struct {
	start time.Time
	span  time.Duration
	cells map[int]cell // by the number of a row
}

func (c *column) end() time.Time { return c.start.Add(c.span) }

// add adds to a row.
func (c *column) add(row int, d cell) {
	if d != (cell{}) {
		c.cells[row] = c.cells[row].plus(d)
	}
}

// grid are the columns of a history, the oldest first. A second that nobody looked at has no column.
type grid struct{ columns []column }

// at returns the column that has a second, which it adds if there is none.
func (g *grid) at(second time.Time) *column {
	second = second.Truncate(time.Second)
	i, known := slices.BinarySearchFunc(g.columns, second, func(c column, t time.Time) int {
		switch {
		case !c.end().After(t):
			return -1
		case c.start.After(t):
			return 1
		}
		return 0
	})
	if !known {
		g.columns = slices.Insert(g.columns, i, column{start: second, span: time.Second, cells: make(map[int]cell)})
	}
	return &g.columns[i]
}

// compact merges what is older than its level keeps, and returns the merged columns. What is older than all levels is dropped.
func (g *grid) compact(now time.Time) (merged []column) {
	age := time.Duration(0)
	for i, level := range levels {
		age += level.span * time.Duration(level.keep)
		if i+1 == len(levels) {
			break
		}
		merged = append(merged, g.merge(now.Add(-age), levels[i+1].span)...)
	}
	oldest := now.Add(-age)
	g.columns = slices.DeleteFunc(g.columns, func(c column) bool { return c.end().Before(oldest) })
	return merged
}

// merge makes one column of those that lie within a span that has ended before a time.
func (g *grid) merge(before time.Time, span time.Duration) (merged []column) {
	kept := g.columns[:0]
	for i := 0; i < len(g.columns); {
		c := g.columns[i]
		start := c.start.Truncate(span)
		j := i + 1
		if c.span < span && !start.Add(span).After(before) {
			for j < len(g.columns) && g.columns[j].start.Before(start.Add(span)) {
				j++
			}
			c = together(g.columns[i:j], start, span)
			merged = append(merged, c)
		}
		kept = append(kept, c)
		i = j
	}
	clear(g.columns[len(kept):])
	g.columns = kept
	return merged
}

func together(parts []column, start time.Time, span time.Duration) column {
	c := column{start, span, make(map[int]cell)}
	for _, p := range parts {
		for row, d := range p.cells {
			c.add(row, d)
		}
	}
	return c
}

// move gives what rows have taken to others.
func (g *grid) move(to map[int]int) {
	for i := range g.columns {
		c := &g.columns[i]
		for from, other := range to {
			if d, there := c.cells[from]; there {
				delete(c.cells, from)
				c.add(other, d)
			}
		}
	}
}

// rows returns the rows that took something in a column.
func (c *column) rows() []int {
	return slices.AppendSeq(make([]int, 0, len(c.cells)), maps.Keys(c.cells))
}
