package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/chromedp/chromedp"
	"github.com/creack/pty"

	"github.com/heatsink-go/heatsink/internal/browser"
)

// demo takes pictures of heatsink demo in a terminal, dark and light: its first and its last act, and the figures.
func demo(ctx context.Context, out string) error {
	dir, err := os.MkdirTemp("", "shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := play(ctx, dir)
	if err != nil {
		return err
	}
	screen := lines(text)
	if err := held(screen); err != nil {
		return err
	}
	for name, theme := range map[string]string{"demo.png": dark, "demo-light.png": light} {
		file := filepath.Join(dir, "demo.html")
		if err := os.WriteFile(file, []byte(frame(excerpt(screen), theme)), 0o644); err != nil {
			return err
		}
		if err := photograph(ctx, file, filepath.Join(out, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// photograph takes a picture of a terminal.
func photograph(ctx context.Context, file, path string) error {
	tab, end, err := browser.Open(ctx, 860, 800)
	if err != nil {
		return err
	}
	defer end()
	if err := chromedp.Do(tab, chromedp.Navigate("file://"+file)); err != nil {
		return err
	}
	data, err := chromedp.Run(tab, chromedp.Screenshot(chromedp.CSS("#terminal")))
	if err != nil {
		return err
	}
	return store(path, data)
}

// play runs the demo on a terminal, and returns all that it has written.
func play(ctx context.Context, dir string) (string, error) {
	command := filepath.Join(dir, "heatsink")
	build := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/heatsink")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	run := exec.CommandContext(ctx, command, "demo")
	run.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	terminal, err := pty.StartWithSize(run, &pty.Winsize{Rows: 50, Cols: 100})
	if err != nil {
		return "", err
	}
	defer terminal.Close()
	var all bytes.Buffer
	if _, err := io.Copy(&all, terminal); err != nil && !errors.Is(err, syscall.EIO) { // as a terminal ends on Linux
		return "", err
	}
	return all.String(), run.Wait()
}

// lines returns what stays on the screen: a line that changes is what it was last.
func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range all {
		if at := strings.LastIndex(l, "\r\x1b[2K"); at >= 0 {
			all[i] = l[at+len("\r\x1b[2K"):]
		}
	}
	return all
}

// excerpt leaves out the acts in between, how everything is read back, and the words at the end.
func excerpt(all []string) []string {
	kept, on := []string{"$ heatsink demo"}, false
	for _, l := range all {
		switch plain := strings.TrimSpace(l); {
		case strings.Contains(l, "Act 1:"), strings.Contains(l, "Act 4:"):
			kept, on = append(kept, ""), true
		case strings.HasPrefix(plain, "Query:"), strings.Contains(l, "Act 2:"):
			on = false
		case strings.Contains(l, "Put p50/p99"):
			kept, on = append(kept, ""), true
		case strings.HasPrefix(plain, "One key is one partition"):
			kept, on = append(kept, ""), true
		case strings.HasPrefix(plain, "Shards are not partitions"):
			on = false
		}
		if on && strings.TrimSpace(l) != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// The colours of a terminal: text and ground, those of its bar, and those that the demo uses.
const (
	dark  = "--text: #d7dee6; --ground: #0d1117; --bar: #21262d; --title: #9da7b3; --green: #56c271; --red: #ff7b72; --bold: #ffffff"
	light = "--text: #24292f; --ground: #ffffff; --bar: #e6eaef; --title: #57606a; --green: #1a7f37; --red: #cf222e; --bold: #000000"
)

// frame is a terminal with lines.
func frame(all []string, theme string) string {
	text := html.EscapeString(strings.Join(all, "\n"))
	for code, class := range map[string]string{"32": "green", "31": "red", "1": "bold"} {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", `<span class="`+class+`">`)
	}
	text = strings.ReplaceAll(text, "\x1b[0m", "</span>")
	return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: transparent; ` + theme + ` }
#terminal { width: 820px; background: var(--ground); color: var(--text); border: 1px solid var(--bar); border-radius: 10px; overflow: hidden; box-sizing: border-box; }
#bar { background: var(--bar); color: var(--title); font: 12px system-ui, sans-serif; padding: 8px 14px; }
pre { margin: 0; padding: 14px 18px 18px; font: 13px/1.42 "DejaVu Sans Mono", ui-monospace, monospace; }
.green { color: var(--green); } .red { color: var(--red); } .bold { font-weight: 700; color: var(--bold); }
</style><div id="terminal"><div id="bar">heatsink demo</div><pre>` + text + `</pre></div>`
}
