// Shots makes the pictures of the documentation: the page while a key burns and cools down, light, dark and on a phone, and the
// demo in a terminal, dark and light. Run it in internal/browser:
//
//	go run ./shots -out ../../docs/images
//
// It stores no picture that is empty or too large. It stores none of a load that this machine could not offer: then the exit code is 3.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/heatsink-go/heatsink/internal/browser"
)

// mostBytes is how large a picture may be.
const mostBytes = 150 << 10

func main() {
	out := flag.String("out", ".", "the directory of the pictures")
	saved := flag.String("from", "", "the saved page of a story; it is played and saved there if there is no such file")
	only := flag.String("only", "", "page or demo: only these pictures")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *out, *saved, *only)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
	}
	switch {
	case errors.Is(err, errTooSlow):
		os.Exit(3)
	case err != nil:
		os.Exit(1)
	}
}

func run(ctx context.Context, out, saved, only string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if only != "demo" {
		if err := pictures(ctx, out, saved); err != nil {
			return err
		}
	}
	if only != "page" {
		return demo(ctx, out)
	}
	return nil
}

// pictures takes those of the page, from a saved one or from a new story.
func pictures(ctx context.Context, out, saved string) error {
	if saved == "" {
		dir, err := os.MkdirTemp("", "shots")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		saved = filepath.Join(dir, "story.html")
	}
	saved, err := filepath.Abs(saved)
	if err != nil {
		return err
	}
	if _, err := os.Stat(saved); errors.Is(err, os.ErrNotExist) {
		file, err := os.Create(saved)
		if err != nil {
			return err
		}
		if err := errors.Join(tell(ctx, file), file.Close()); err != nil {
			return err
		}
	}
	for _, s := range shots {
		data, err := s.take(ctx, "file://"+saved)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := store(filepath.Join(out, s.name), data); err != nil {
			return err
		}
	}
	return nil
}

// shot is a picture of the page.
type shot struct {
	name          string
	width, height int64
	scale         float64
	theme         string
	mobile        bool
}

var shots = []shot{
	{name: "page-light.png", width: 1200, height: 1100, scale: 1, theme: "light"},
	{name: "page-dark.png", width: 1200, height: 1100, scale: 1, theme: "dark"},
	{name: "page-phone.png", width: 390, height: 844, scale: 2, theme: "light", mobile: true},
}

func (s shot) take(ctx context.Context, url string) ([]byte, error) {
	tab, end, err := browser.Open(ctx, int(s.width), int(s.height))
	if err != nil {
		return nil, err
	}
	defer end()
	size := []chromedp.EmulateViewportOption{chromedp.EmulateScale(s.scale)}
	if s.mobile {
		size = append(size, chromedp.EmulateMobile)
	}
	err = chromedp.Do(tab, chromedp.EmulateViewport(s.width, s.height, size...), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.theme}}})
		return err
	}), chromedp.Navigate(url))
	if err != nil {
		return nil, err
	}
	if _, err := chromedp.Run(tab, chromedp.Poll[bool](`heatpage.lines().length > 3 && heatpage.drawings() > 0`, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		return nil, err
	}
	wide, err := chromedp.Run(tab, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
	if err != nil {
		return nil, err
	}
	if wide > s.width {
		return nil, fmt.Errorf("the page is %d wide where the screen has %d", wide, s.width)
	}
	return chromedp.Run(tab, chromedp.CaptureScreenshot())
}
