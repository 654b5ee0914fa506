package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
)

func TestHeld(t *testing.T) {
	demo := func(offered ...string) (screen []string) {
		screen = []string{"That is 8,000 write units (WCU) per second; one partition serves 1,000.", "\x1b[1m           partitions  offered\x1b[0m"}
		for i, name := range []string{"one key", "ten shards", "ten shards", "adaptive"} {
			if i < len(offered) {
				screen = append(screen, fmt.Sprintf("%-10s %10s %8s %9s", name, "1 of 4", offered[i], "962"))
			}
		}
		return screen
	}
	for name, c := range map[string]struct {
		screen []string
		slow   bool
		want   string
	}{
		"held":            {demo("8,000", "7,600", "8,248", "7,989"), false, ""},
		"a busy machine":  {demo("4,746", "4,959", "4,865", "4,579"), true, "act 1 of the demo, one key, offered 4746 where 8000 were wanted"},
		"in its last act": {demo("8,000", "8,000", "8,000", "7,599"), true, "act 4 of the demo, adaptive, offered 7599"},
		"an act too few":  {demo("8,000", "8,000", "8,000"), false, "3 acts"},
		"no load":         {demo("8,000", "8,000", "8,000", "8,000")[1:], false, "a load of 0"},
	} {
		err := held(c.screen)
		if errors.Is(err, errTooSlow) != c.slow || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestFilled(t *testing.T) {
	for name, c := range map[string]struct {
		colour func(x, y int) color.Color
		want   bool
	}{
		"a gradient":  {func(x, y int) color.Color { return color.RGBA{uint8(x), uint8(y), 0, 255} }, true},
		"white":       {func(int, int) color.Color { return color.White }, false},
		"two colours": {func(x, _ int) color.Color { return color.Gray{uint8(x % 2)} }, false},
		"a few dots": {func(x, y int) color.Color {
			if x+y < 91 {
				return color.White
			}
			return color.Gray{uint8(7*x + y)}
		}, false},
	} {
		picture := image.NewRGBA(image.Rect(0, 0, 50, 50))
		for y := range 50 {
			for x := range 50 {
				picture.Set(x, y, c.colour(x, y))
			}
		}
		if err := filled(picture); (err == nil) != c.want {
			t.Errorf("%s: got %v, want it filled: %t", name, err, c.want)
		}
	}
}
