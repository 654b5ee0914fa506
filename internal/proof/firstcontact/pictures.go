package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// picture is one of docs/images.
type picture struct {
	name          string
	kind          string // as internal/browser/shots calls it
	width, height int    // pixels; height 0: as high as its text is
	dark          bool
}

// imagesDir is relative to the root of the repository.
const imagesDir = "docs/images"

var images = []picture{
	{"page-light.png", "page", 1200, 1100, false},
	{"page-dark.png", "page", 1200, 1100, true},
	{"page-phone.png", "page", 2 * 390, 2 * 844, false}, // two pixels for each of the phone's points
	{"demo.png", "demo", 820, 0, true},
	{"demo-light.png", "demo", 820, 0, false},
}

const (
	mostBytes   = 150 << 10
	leastShades = 16
	mostOfOne   = 0.98 // of the pixels may have the same colour
	shotTries   = 3    // a machine is busy at times
	tooSlow     = 3    // the exit code of shots when it is
)

// pictures takes the screenshots anew, and looks at those and at the ones in the documents. With -write they are the same.
func pictures(ctx context.Context, p *proof) error {
	dir := filepath.Join(p.work, "images")
	if p.write {
		var err error
		if dir, err = filepath.Abs(imagesDir); err != nil {
			return err
		}
	}
	shots := filepath.Join(p.work, "shots")
	build := exec.CommandContext(ctx, "go", "build", "-o", shots, "./shots")
	build.Dir = "internal/browser"
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./shots: %w: %s", err, out)
	}
	for _, kind := range []string{"page", "demo"} {
		taken, why, err := take(ctx, shots, dir, kind)
		if err != nil {
			return err
		}
		if !taken {
			p.Skip("new pictures of the "+kind, why)
			continue
		}
		for _, image := range images {
			if image.kind == kind {
				p.look("new ", dir, image)
			}
		}
	}
	for _, image := range images {
		p.look("in the documents, ", imagesDir, image)
	}
	return nil
}

// take runs shots until the machine is calm enough for its load. Otherwise it says why there is no picture.
func take(ctx context.Context, shots, dir, kind string) (taken bool, why string, err error) {
	for try := range shotTries {
		cmd := exec.CommandContext(ctx, shots, "-out", dir, "-only", kind)
		cmd.Dir = "internal/browser"
		out, err := cmd.CombinedOutput()
		ended := new(exec.ExitError)
		switch {
		case err == nil:
			return true, "", nil
		case !errors.As(err, &ended) || ended.ExitCode() != tooSlow:
			return false, "", fmt.Errorf("shots -only %s: %w: %s", kind, err, scenario.End(string(out)))
		}
		why = scenario.End(string(out))
		scenario.Progress("  try %d: %s", try+1, why)
	}
	return false, why, nil
}

// look checks a picture.
func (p *proof) look(which, dir string, want picture) {
	text, err := os.ReadFile(filepath.Join(dir, want.name))
	if err != nil {
		p.Must(which+want.name, err.Error(), "a picture", false)
		return
	}
	got, holds := want.fits(text)
	p.Must(which+want.name, got, want.String(), holds)
}

func (p picture) String() string {
	height, ground := "any height", "light"
	if p.height > 0 {
		height = fmt.Sprint(p.height)
	}
	if p.dark {
		ground = "dark"
	}
	return fmt.Sprintf("%d × %s, %s, %d KB at most, not empty", p.width, height, ground, mostBytes>>10)
}

// fits says what a file is, and whether it is the picture.
func (p picture) fits(file []byte) (got string, holds bool) {
	decoded, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return err.Error(), false
	}
	size := decoded.Bounds().Size()
	shades, ground, part := groundOf(decoded)
	dark := color.GrayModel.Convert(ground).(color.Gray).Y < 128
	got = fmt.Sprintf("%d × %d, %d KB, %d colours, %.0f %% of it %v", size.X, size.Y, (len(file)+1023)>>10, shades, 100*part, map[bool]string{true: "dark", false: "light"}[dark])
	return got, size.X == p.width && (p.height == 0 || size.Y == p.height) && size.Y > 100 && len(file) <= mostBytes &&
		shades >= leastShades && part <= mostOfOne && dark == p.dark
}

// groundOf returns how many colours a picture has, the most frequent one, and which part of the pixels has it.
func groundOf(of image.Image) (colours int, ground color.Color, part float64) {
	counts, bounds := make(map[color.RGBA]int), of.Bounds()
	most := 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.RGBAModel.Convert(of.At(x, y)).(color.RGBA)
			if counts[c]++; counts[c] > most {
				ground, most = c, counts[c]
			}
		}
	}
	return len(counts), ground, float64(most) / float64(max(1, bounds.Dx()*bounds.Dy()))
}
