package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
)

// store writes a PNG with at most 256 colours, which is all that a page of text and figures needs.
func store(path string, data []byte) error {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := filled(full); err != nil {
		return err
	}
	small := image.NewPaletted(full.Bounds(), palette(full))
	draw.Draw(small, small.Bounds(), full, full.Bounds().Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		return err
	}
	if b.Len() > mostBytes {
		return fmt.Errorf("%s would have %d bytes: want %d at most", filepath.Base(path), b.Len(), mostBytes)
	}
	fmt.Printf("%s: %v, %d KB\n", filepath.Base(path), full.Bounds().Max, b.Len()>>10)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// filled refuses a picture of nothing: it has few colours, or nearly all of it is one of them.
func filled(of image.Image) error {
	counts, most, pixels := make(map[color.Color]int), 0, of.Bounds().Dx()*of.Bounds().Dy()
	for y := of.Bounds().Min.Y; y < of.Bounds().Max.Y; y++ {
		for x := of.Bounds().Min.X; x < of.Bounds().Max.X; x++ {
			c := of.At(x, y)
			counts[c]++
			most = max(most, counts[c])
		}
	}
	if len(counts) < 16 || float64(most) > 0.98*float64(pixels) {
		return fmt.Errorf("the picture is empty: it has %d colours, and %d of its %d pixels are the same", len(counts), most, pixels)
	}
	return nil
}

// palette returns the most frequent colours of an image. Those of 15 bits that look alike are one.
func palette(of image.Image) color.Palette {
	type seen struct {
		count int
		as    map[color.RGBA]int
	}
	found := make(map[[3]uint8]*seen)
	for y := of.Bounds().Min.Y; y < of.Bounds().Max.Y; y++ {
		for x := of.Bounds().Min.X; x < of.Bounds().Max.X; x++ {
			c := color.RGBAModel.Convert(of.At(x, y)).(color.RGBA)
			id := [3]uint8{c.R >> 3, c.G >> 3, c.B >> 3}
			if found[id] == nil {
				found[id] = &seen{as: make(map[color.RGBA]int)}
			}
			found[id].count++
			found[id].as[c]++
		}
	}
	all := make([]*seen, 0, len(found))
	for _, s := range found {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *seen) int { return cmp.Compare(b.count, a.count) })
	var colours color.Palette
	for _, s := range all[:min(256, len(all))] {
		best, most := color.RGBA{}, 0
		for c, n := range s.as {
			if n > most || n == most && (c.R < best.R || c.R == best.R && c.G < best.G || c.R == best.R && c.G == best.G && c.B < best.B) {
				best, most = c, n
			}
		}
		colours = append(colours, best)
	}
	return colours
}
