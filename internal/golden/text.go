package golden

import (
	"os"
	"path/filepath"
	"strings"
)

// Text compares a text with a file, line by line, or writes the file anew. Lines that begin with == are titles: a difference is
// reported with the last of them.
func Text(t TB, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	wanted, seen, title := strings.Split(string(text), "\n"), strings.Split(got, "\n"), ""
	for i := range max(len(wanted), len(seen)) {
		w, s := lineOf(wanted, i), lineOf(seen, i)
		if strings.HasPrefix(w, "== ") {
			title = w
		}
		if w != s {
			t.Fatalf("%s:%d, %s:\ngot  %s\nwant %s\n(-update writes the file anew)", path, i+1, title, s, w)
		}
	}
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
