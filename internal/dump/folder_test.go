package dump

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// guarded is a tree with directories that may not be read.
type guarded struct {
	fstest.MapFS
	closed string
}

func (g guarded) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == g.closed {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return g.MapFS.ReadDir(name)
}

// A directory that may not be read hides no export elsewhere. If there is none, the directory is named.
func TestFindFolderBesideWhatMayNotBeRead(t *testing.T) {
	export, lost := "prefix/AWSDynamoDB/01-a/"+summaryFile, "lost+found/file"
	for name, c := range map[string]struct {
		files      []string
		closed     string
		want, fail string
	}{
		"beside the export": {[]string{export, lost}, "lost+found", "dir/prefix/AWSDynamoDB/01-a", ""},
		"above the export":  {[]string{export}, "prefix", "", "allow to read " + filepath.FromSlash("dir/prefix")},
		"the root":          {[]string{export}, ".", "", "permission denied"},
		"nothing is closed": {[]string{lost}, "", "", "no finished export in it: want"},
	} {
		tree := guarded{fstest.MapFS{}, c.closed}
		for _, file := range c.files {
			tree.MapFS[file] = &fstest.MapFile{}
		}
		got, err := findFolder(t.Context(), tree, "dir")
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: got %q, %v; want %q, %q", name, got, err, c.want, c.fail)
		}
	}
}
