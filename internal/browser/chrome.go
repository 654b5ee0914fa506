package browser

import (
	"context"
	"errors"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Open starts a browser without a window, whose page is so wide and high. The returned function ends it.
func Open(ctx context.Context, width, height int) (context.Context, context.CancelFunc, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, nil, errors.New("there is no browser: make deps installs chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(width, height))
	allocated, end := chromedp.NewExecAllocator(ctx, options...)
	page, cancel := chromedp.NewContext(allocated)
	return page, func() { cancel(); end() }, nil
}
