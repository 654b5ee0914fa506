package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Broken is what internal/mutants says in its last line: of the random breaks of a package, or of those of the requirements.
type Broken struct {
	Package   string     `json:"package,omitempty"`
	Rows      int        `json:"rows,omitempty"`
	Breaks    int        `json:"breaks"`
	Caught    int        `json:"caught"`
	Missed    []string   `json:"missed,omitempty"`
	Survivors []Survivor `json:"survivors,omitempty"`
}

// Survivor is a break that no test noticed.
type Survivor struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Break runs internal/mutants. Its progress goes to stderr.
func Break(ctx context.Context, args ...string) (b Broken, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./internal/mutants"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	ran := cmd.Run()
	if err := b.read(out.String()); err != nil {
		return b, fmt.Errorf("mutants %s: %w, %w", strings.Join(args, " "), ran, err)
	}
	return b, nil
}

func (b *Broken) read(out string) error {
	out = strings.TrimSpace(out)
	return json.Unmarshal([]byte(out[strings.LastIndexByte(out, '\n')+1:]), b)
}

// Share is how many percent of the breaks were caught.
func (b *Broken) Share() float64 { return 100 * float64(b.Caught) / float64(max(1, b.Breaks)) }

// List prints the survivors.
func (b *Broken) List(out io.Writer) {
	for _, s := range b.Survivors {
		fmt.Fprintf(out, "survived: %s %s:%d: %s → %s\n", b.Package, s.File, s.Line, s.Before, s.After)
	}
}
