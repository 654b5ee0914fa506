package dump

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

	fullExport   = "FULL_EXPORT"
	dynamoDBJSON = "DYNAMODB_JSON"

	// maxManifest is how large a manifest may be: that of a million files.
	maxManifest = 512 << 20
)

// summary is manifest-summary.json. A member that an export lacks is empty.
type summary struct {
	Version            string    `json:"version"`
	ExportARN          string    `json:"exportArn"`
	StartTime          time.Time `json:"startTime"`
	EndTime            time.Time `json:"endTime"`
	TableARN           string    `json:"tableArn"`
	TableID            string    `json:"tableId"`
	ExportTime         time.Time `json:"exportTime"`
	ManifestFilesS3Key string    `json:"manifestFilesS3Key"`
	BilledSizeBytes    int64     `json:"billedSizeBytes"`
	ItemCount          int64     `json:"itemCount"`
	OutputFormat       string    `json:"outputFormat"`
	ExportType         string    `json:"exportType,omitempty"`
}

// dataFile is a line of manifest-files.json.
type dataFile struct {
	ItemCount     int64  `json:"itemCount"`
	MD5           string `json:"md5Checksum"` // in base64, of the file as it lies there
	ETag          string `json:"etag,omitempty"`
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

// openFolder finds a finished export in a directory, and checks its manifests.
func openFolder(dir string) (*folder, error) {
	path, err := findFolder(dir)
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
	case s.ExportType != "" && s.ExportType != fullExport:
		return nil, fmt.Errorf("%s: it is an export of type %q, which has changes: only a %s has all items", path, s.ExportType, fullExport)
	}
	return f, f.readFiles()
}

// findFolder returns the directory of the one finished export in dir.
func findFolder(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, summaryFile)); err == nil {
		return dir, nil
	}
	var found []string
	for _, pattern := range []string{"*", filepath.Join(exportsDir, "*")} {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern, summaryFile))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			found = append(found, filepath.Dir(path))
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if _, err := os.Stat(dir); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%s: no finished export in it: want a directory with %s, or with %s/ID/%s", dir, summaryFile, exportsDir, summaryFile)
	}
	return "", fmt.Errorf("%s: it has %d exports: name one of them: %s", dir, len(found), strings.Join(found, ", "))
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
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	err = errors.Join(err, file.Close())
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%s: larger than %d MB, more than any manifest", path, maxManifest>>20)
	}
	for _, suffix := range []string{".md5", ".checksum"} {
		want, err := os.ReadFile(strings.TrimSuffix(path, ".json") + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if got := checksum(text); got != strings.TrimSpace(string(want)) {
			return nil, fmt.Errorf("%s: its MD5 is %s, but %s says %.40q: the file is damaged", path, got, suffix, strings.TrimSpace(string(want)))
		}
	}
	return text, nil
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
