package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

//go:embed report.html
var head string

// HTML writes a result as one file with plots. It asks for nothing from elsewhere, and follows the reader's light or dark
// scheme.
func HTML(w io.Writer, result *simulate.Result) error {
	s := &result.Scenario
	source, err := s.YAML()
	if err != nil {
		return err
	}
	var d document
	d.WriteString(strings.Replace(head, "{{title}}", html.EscapeString(s.Title), 1))
	d.put("<body>\n<h1>%s</h1>\n<p>%s</p>\n", s.Title, s.About)
	d.put("<p>%s of virtual time after a run-in of %s, mode %s, seed %s.</p>\n", s.Duration, s.RunIn, s.Mode, s.Seed)
	d.table(result)
	d.put("<p>%s</p>\n", strings.Join(legend(result), " "))
	d.WriteString(`<p class="key"><span><b style="color:var(--offered)">offered</b> (dashed)</span><span><b style="color:var(--served)">served</b></span>` +
		`<span><b style="color:var(--hot)">throttled</b></span>in capacity units a second; counting begins at the vertical line</p>` + "\n")
	highest := 0.0
	for i := range result.Runs {
		for _, p := range result.Runs[i].Series {
			highest = max(highest, p.Offered, p.Served)
		}
	}
	for i := range result.Runs {
		d.plot(newPlot(&result.Runs[i], s, highest))
	}
	d.put("<h2>The scenario</h2>\n<pre>%s</pre>\n</body>\n</html>\n", source)
	_, err = io.WriteString(w, d.String())
	return err
}

// document is what is written. A template of html/template would let the linker keep every method of the program, a third more of it.
type document struct{ strings.Builder }

// put writes markup with values in the places of its %s, which it escapes. They stand between tags or inside quotes.
func (d *document) put(markup string, values ...any) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = html.EscapeString(fmt.Sprint(v))
	}
	fmt.Fprintf(d, markup, escaped...)
}

func (d *document) table(result *simulate.Result) {
	list := columns(result)
	d.put(`<div class="wide"><table>` + "\n" + `<thead><tr><th scope="col">layout</th>`)
	for _, c := range list {
		d.put(`<th scope="col">%s</th>`, c.title)
	}
	d.put("</tr></thead>\n<tbody>\n")
	for i := range result.Runs {
		r := &result.Runs[i]
		d.put("<tr><td>%s</td>", r.Layout)
		for _, c := range list {
			d.put("<td>%s</td>", c.of(r))
		}
		d.put("</tr>\n")
	}
	d.put("</tbody>\n</table></div>\n")
}

func (d *document) plot(p plot) {
	at := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	d.put("<h2>%s</h2>\n", p.Title)
	d.put(`<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`+"\n", p.Width, p.Height, p.Summary)
	for _, l := range p.Levels {
		d.put(`<line class="grid" x1="%s" x2="%s" y1="%s" y2="%s"/>`, p.Left, p.Right, at(l.At), at(l.At))
		d.put(`<text x="%s" dx="-6" dy="4" y="%s" text-anchor="end">%s</text>`+"\n", p.Left, at(l.At), l.Text)
	}
	for _, t := range p.Times {
		d.put(`<text x="%s" y="%s" dy="18" text-anchor="middle">%s</text>`+"\n", at(t.At), p.Bottom, t.Text)
	}
	d.put(`<line class="grid" x1="%s" x2="%s" y1="%s" y2="%s"/>`+"\n", at(p.RunIn), at(p.RunIn), p.Top, p.Bottom)
	for _, line := range [][2]string{{"offered", p.Offered}, {"served", p.Served}, {"throttled", p.Throttled}} {
		d.put(`<polyline class="%s" points="%s"/>`+"\n", line[0], line[1])
	}
	d.put("</svg>\n")
}

// The size of a plot, and of the margins that hold its axes.
const (
	plotWidth  = 720
	plotHeight = 200
	marginLeft = 64
	marginEnd  = 28
	marginTop  = 12
	marginFoot = 28
)

// plot is the series of a run, in the coordinates of an SVG.
type plot struct {
	Title                      string
	Summary                    string // for those who cannot see it
	Offered, Served, Throttled string // points of lines
	Width, Height              int
	Left, Right, Top, Bottom   int
	RunIn                      float64 // where counting begins
	Levels                     []tick
	Times                      []tick
}

type tick struct {
	At   float64
	Text string
}

// newPlot scales all runs of a result alike, so that they can be compared.
func newPlot(r *simulate.Run, s *scenario.Scenario, highest float64) plot {
	p := plot{
		Title: r.Layout, Width: plotWidth, Height: plotHeight,
		Left: marginLeft, Right: plotWidth - marginEnd, Top: marginTop, Bottom: plotHeight - marginFoot,
		Summary: fmt.Sprintf("%s: %s of %s units a second served, %s of requests throttled, %s of operations failed",
			r.Layout, figure.Thousands(r.ServedUnits), figure.Thousands(r.OfferedUnits), Percent(r.ThrottledShare()), Percent(r.FailedShare())),
	}
	total := s.Total()
	step := niceStep(highest / 4)
	top := max(math.Ceil(highest/step), 1) * step
	x := func(at time.Duration) float64 {
		return float64(p.Left) + at.Seconds()/total.Seconds()*float64(p.Right-p.Left)
	}
	y := func(n float64) float64 { return float64(p.Bottom) - min(n/top, 1)*float64(p.Bottom-p.Top) }
	perRequest := 1.0 // throttled requests in the units of the axis
	if r.Requests > 0 && r.Requests > r.Throttled {
		perRequest = r.ServedUnits * time.Duration(s.Duration).Seconds() / (r.Requests - r.Throttled)
	}
	line := func(of func(simulate.Point) float64) string {
		var b strings.Builder
		for _, point := range r.Series {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(time.Duration(point.At)), y(of(point)))
		}
		return strings.TrimSpace(b.String())
	}
	p.Offered = line(func(p simulate.Point) float64 { return p.Offered })
	p.Served = line(func(p simulate.Point) float64 { return p.Served })
	p.Throttled = line(func(p simulate.Point) float64 { return p.Throttled * perRequest })
	p.RunIn = x(time.Duration(s.RunIn))
	for n := 0.0; n <= top*1.001; n += step {
		p.Levels = append(p.Levels, tick{y(n), figure.Thousands(n)})
	}
	for i := range 5 {
		at := total * time.Duration(i) / 4
		p.Times = append(p.Times, tick{x(at), scenario.Duration(at.Round(max(total/100, time.Millisecond))).String()})
	}
	return p
}

// niceStep returns 1, 2 or 5 times a power of ten that is not below n.
func niceStep(n float64) float64 {
	if !(n > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(n)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= n {
			return m * power
		}
	}
	return 10 * power
}
