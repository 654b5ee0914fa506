package dump

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	exportsDir     = "AWSDynamoDB"
	dataDir        = "data"
	summaryFile    = "manifest-summary.json"
	filesFile      = "manifest-files.json"
	tableFile      = "table.json"
	checkpointFile = "checkpoint.json"

	fullExport        = "FULL_EXPORT"
	incrementalExport = "INCREMENTAL_EXPORT"
	dynamoDBJSON      = "DYNAMODB_JSON"

	// maxManifest is how large a manifest may be: that of a million files.
	maxManifest = 512 << 20
)

// summary is manifest-summary.json. A member that an export lacks is empty.
type summary struct {
	Version            string  `json:"version"`
	ExportARN          string  `json:"exportArn"`
	StartTime          moment  `json:"startTime"`
	EndTime            moment  `json:"endTime"`
	TableARN           string  `json:"tableArn"`
	TableID            string  `json:"tableId"`
	ExportTime         moment  `json:"exportTime"`
	S3Bucket           *string `json:"s3Bucket"` // null in ours, like those that follow: the files are in no bucket
	S3Prefix           *string `json:"s3Prefix"`
	S3SSEAlgorithm     *string `json:"s3SseAlgorithm"`
	S3SSEKMSKeyID      *string `json:"s3SseKmsKeyId"`
	ManifestFilesS3Key string  `json:"manifestFilesS3Key"`
	BilledSizeBytes    int64   `json:"billedSizeBytes"`
	ItemCount          int64   `json:"itemCount"`
	OutputFormat       string  `json:"outputFormat"`
	ExportType         string  `json:"exportType,omitempty"`
}

// moment is a time as manifests spell it: with milliseconds, in UTC.
type moment struct{ time.Time }

// MarshalJSON spells all three digits, which readers in other languages count on.
func (m moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// dataFile is a line of manifest-files.json.
type dataFile struct {
	ItemCount     int64  `json:"itemCount"`
	MD5           string `json:"md5Checksum"`    // in base64, of the file as it lies there
	ETag          string `json:"etag,omitempty"` // S3's of a file that is stored in one piece
	DataFileS3Key string `json:"dataFileS3Key"`
}

// name is the file's name. Of a key in S3 no more than that is of use here.
func (f *dataFile) name() string { return f.DataFileS3Key[strings.LastIndex(f.DataFileS3Key, "/")+1:] }

// folder is the directory of one export.
type folder struct {
	path    string
	summary summary
	files   []dataFile
}

// changes says whether the export has what has changed, instead of all items.
func (f *folder) changes() bool { return f.summary.ExportType == incrementalExport }

// dataPath is where a data file lies. Those of incremental exports lie in one directory beside the exports', unless somebody has put
// them together.
func (f *folder) dataPath(d *dataFile) string {
	own := filepath.Join(f.path, dataDir, d.name())
	if _, err := os.Stat(own); err != nil && f.changes() {
		return filepath.Join(f.path, "..", dataDir, d.name())
	}
	return own
}

// openFolder finds a finished export in a directory, and checks its manifests.
func openFolder(ctx context.Context, dir string) (*folder, error) {
	path, err := findFolder(ctx, os.DirFS(dir), dir)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path}
	text, err := f.read(summaryFile)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &f.summary); err != nil {
		return nil, fmt.Errorf("%s: not the summary of an export: %w", filepath.Join(path, summaryFile), err)
	}
	s := &f.summary
	switch {
	case s.OutputFormat != dynamoDBJSON:
		return nil, fmt.Errorf("%s: its format is %q, but only %s can be read: export the table in that format", path, s.OutputFormat, dynamoDBJSON)
	case s.ExportType != "" && s.ExportType != fullExport && s.ExportType != incrementalExport:
		return nil, fmt.Errorf("%s: it is an export of type %q, but only a %s or an %s can be read", path, s.ExportType, fullExport, incrementalExport)
	}
	return f, f.readFiles()
}

// findFolder returns the directory of the one finished export in dir, whose files are in tree. It lies as deep as the prefix of its keys
// in S3 makes it. Directories that may not be read, such as lost+found, hold none.
func findFolder(ctx context.Context, tree fs.FS, dir string) (string, error) {
	if _, err := fs.Stat(tree, "."); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no such directory", dir)
	}
	var found, closed []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if errors.Is(err, fs.ErrPermission) && name != "." {
			closed = append(closed, at)
			return fs.SkipDir
		}
		if err = errors.Join(err, ctx.Err()); err != nil || !d.IsDir() {
			return err
		}
		if _, err := fs.Stat(tree, path.Join(name, summaryFile)); err == nil {
			found = append(found, at)
			return fs.SkipDir
		}
		return nil
	})
	list := func(all []string) string { return strings.Join(all[:min(10, len(all))], ", ") }
	switch {
	case err != nil:
		return "", fmt.Errorf("look for an export in %s: %w", dir, err)
	case len(found) == 0 && len(closed) > 0:
		return "", fmt.Errorf("%s: no finished export in it, as far as it may be read: allow to read %s, or name the directory with %s", dir, list(closed), summaryFile)
	case len(found) == 0:
		return "", fmt.Errorf("%s: no finished export in it: want a directory with %s, or with %s/ID/%s", dir, summaryFile, exportsDir, summaryFile)
	case len(found) > 1:
		return "", fmt.Errorf("%s: it has %d exports: name one of them: %s", dir, len(found), list(found))
	}
	return found[0], nil
}

// escapeGlob makes a pattern of a path that matches only itself.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // has no escapes in patterns
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// readFiles reads the manifest of the data files, and compares it with the summary.
func (f *folder) readFiles() error {
	text, err := f.read(filesFile)
	if err != nil {
		return err
	}
	var items int64
	names := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		at := fmt.Sprintf("%s, line %d", filepath.Join(f.path, filesFile), n)
		var d dataFile
		if err := json.Unmarshal(line, &d); err != nil {
			return fmt.Errorf("%s: not a data file: %w", at, err)
		}
		sum, err := base64.StdEncoding.DecodeString(d.MD5)
		switch {
		case d.name() == "" || d.name() == "." || d.name() == ".." || strings.ContainsAny(d.name(), `\:`):
			return fmt.Errorf("%s: %q is not the key of a data file", at, d.DataFileS3Key)
		case names[d.name()]:
			return fmt.Errorf("%s: file %s is there twice", at, d.name())
		case err != nil || len(sum) != md5.Size:
			return fmt.Errorf("%s: %q is not an MD5 in base64", at, d.MD5)
		case d.ItemCount < 0:
			return fmt.Errorf("%s: %d items", at, d.ItemCount)
		}
		names[d.name()] = true
		items += d.ItemCount
		f.files = append(f.files, d)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(f.path, filesFile), err)
	}
	if items != f.summary.ItemCount {
		return fmt.Errorf("%s: its files have %d items together, but the summary says %d: a manifest is damaged", f.path, items, f.summary.ItemCount)
	}
	return nil
}

// read reads a manifest, and compares it with its MD5 if there is one.
func (f *folder) read(name string) ([]byte, error) {
	path := filepath.Join(f.path, name)
	text, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	for _, suffix := range []string{".md5", ".checksum"} {
		sum := strings.TrimSuffix(path, ".json") + suffix
		want, err := readWhole(sum)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if got := checksum(text); got != strings.TrimSpace(string(want)) {
			return nil, fmt.Errorf("%s: its MD5 is %q, but %s says %.40q: one of them is damaged; copy both again", path, got, sum, strings.TrimSpace(string(want)))
		}
	}
	return text, nil
}

// readWhole reads a file that is no larger than a manifest may be. A pipe would be waited for, and a device has no end.
func readWhole(path string) ([]byte, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%s: larger than %d MB, more than any manifest", path, maxManifest>>20)
	}
	return text, nil
}

func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file: %v", path, info.Mode().Type())
	}
	return err
}

func checksum(text []byte) string {
	sum := md5.Sum(text)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// write writes the manifests of a finished export, the summary last: who finds one
// has a whole export.
func (f *folder) write() error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range f.files {
		if err := encoder.Encode(&f.files[i]); err != nil {
			return err
		}
	}
	text, err := json.Marshal(&f.summary)
	if err != nil {
		return err
	}
	for _, manifest := range []struct {
		name string
		text []byte
	}{{filesFile, lines.Bytes()}, {summaryFile, text}} {
		path := filepath.Join(f.path, manifest.name)
		if err := replaceFile(strings.TrimSuffix(path, ".json")+".md5", []byte(checksum(manifest.text))); err != nil {
			return err
		}
		if err := replaceFile(path, manifest.text); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file whole or not at all, also if the machine crashes.
func replaceFile(path string, text []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable, where that is possible.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every system can
	return d.Close()
}
