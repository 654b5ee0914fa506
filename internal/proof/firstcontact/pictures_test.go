package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func TestPictureFits(t *testing.T) {
	draw := func(width, height int, at func(x, y int) color.Color) []byte {
		drawn := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				drawn.Set(x, y, at(x, y))
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, drawn); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	text := func(ground uint8) func(x, y int) color.Color {
		return func(x, y int) color.Color {
			if x%3 > 0 {
				return color.Gray{ground}
			}
			return color.Gray{uint8(x + y)}
		}
	}
	want := picture{"p.png", "page", 200, 150, true}
	for name, c := range map[string]struct {
		file  []byte
		holds bool
	}{
		"as wanted": {draw(200, 150, text(0)), true},
		"too small": {draw(200, 149, text(0)), false},
		"light":     {draw(200, 150, text(255)), false},
		"empty":     {draw(200, 150, func(int, int) color.Color { return color.Black }), false},
		"no image":  {[]byte("GIF89a"), false},
		"too large": {append(draw(200, 150, text(0)), make([]byte, mostBytes)...), false},
	} {
		if got, holds := want.fits(c.file); holds != c.holds {
			t.Errorf("%s: %s fits: %t, want %t", name, got, holds, c.holds)
		}
	}
}

// The documents have the pictures that the proof takes.
func TestPictures(t *testing.T) {
	for _, p := range images {
		file, err := os.ReadFile(filepath.Join(root, imagesDir, p.name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, holds := p.fits(file); !holds {
			t.Errorf("%s: got %s, want %s", p.name, got, p)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, imagesDir, "*"))
	if err != nil || len(files) != len(images) {
		t.Errorf("%s has %q, want the %d pictures of the proof, %v", imagesDir, files, len(images), err)
	}
}
