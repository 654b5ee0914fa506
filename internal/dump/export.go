package dump

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// ExportOptions say what is exported, and where to.
type ExportOptions struct {
	Table    string
	Dir      string
	Segments int     // parts of the table that are read at the same time. Zero: 8
	RCU      float64 // largest rate of reads, in units per second. Zero: without a limit
	Eventual bool    // reads need not be consistent, for half the price
	Progress func(Progress)

	fileBytes int64 // of tests; zero: 64 MB before compression
}

// Progress is how far an export or import has come.
type Progress struct {
	Items int64   `json:"items"`
	Of    int64   `json:"of"` // about, of an export
	Files int     `json:"files"`
	Units float64 `json:"units"` // capacity that this run has taken

	Waiting string `json:"waiting,omitempty"` // why the table takes or gives nothing at the moment
}

// Result is what an export or import has done.
type Result struct {
	Path    string  `json:"path"` // the export's directory
	Table   string  `json:"table"`
	Items   int64   `json:"items"`
	Files   int     `json:"files"`
	Units   float64 `json:"units"` // capacity that this run has taken
	Resumed bool    `json:"resumed"`
	Created bool    `json:"created"` // by an import: the table
}

// checkpoint is how far an export has come.
type checkpoint struct {
	ID       string
	TableARN string
	TableID  string
	Started  time.Time
	Bytes    int64
	Segments []segment
}

// segment is a part of the table on its way into files. It goes on behind Last.
type segment struct {
	Last  string `json:",omitempty"` // the line of the last key that is in a file; empty: none is
	Done  bool
	Files []dataFile
}

// exporter is an export under way.
type exporter struct {
	client  Client
	options ExportOptions
	folder  folder
	pace    pace

	mu       sync.Mutex
	at       checkpoint
	progress Progress
}

// Export writes a table's items into files. If an export of the table in the same
// directory was cut short, it goes on with that one.
//
// It is a Scan: each item is as of some time between the beginning and the end.
//
// One export of a table writes into a directory at a time.
func Export(ctx context.Context, client Client, options ExportOptions) (result Result, err error) {
	options.Segments = cmp.Or(options.Segments, 8)
	options.fileBytes = cmp.Or(options.fileBytes, 64<<20)
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &options.Table})
	if err != nil {
		return Result{}, fmt.Errorf("describe table %s: %w", options.Table, err)
	}
	x := &exporter{client: client, options: options, pace: pace{rate: options.RCU}}
	x.progress.Of = aws.ToInt64(described.Table.ItemCount)
	held, err := x.lock(described.Table)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, held.release()) }()
	resumed, err := x.begin(described.Table)
	if err != nil {
		return Result{}, err
	}
	if err := x.scanAll(ctx); err != nil {
		return x.result(resumed), err
	}
	return x.result(resumed), x.finish(described.Table)
}

func (x *exporter) result(resumed bool) Result {
	return Result{Path: x.folder.path, Table: x.options.Table, Items: x.progress.Items, Files: x.progress.Files, Units: x.progress.Units, Resumed: resumed}
}

// lock keeps other exports of the table out of the directory.
func (x *exporter) lock(table *types.TableDescription) (*lock, error) {
	root := filepath.Join(x.options.Dir, exportsDir)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	id := md5.Sum([]byte(aws.ToString(table.TableArn) + " " + aws.ToString(table.TableId)))
	held, err := takeLock(filepath.Join(root, "export-"+hex.EncodeToString(id[:8])+".lock"))
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("%s: another export of table %s writes there: wait until it ends, or use another directory", x.options.Dir, x.options.Table)
	}
	return held, err
}

// begin finds the checkpoint of an export that was cut short, or begins a new one.
func (x *exporter) begin(table *types.TableDescription) (resumed bool, err error) {
	root := filepath.Join(x.options.Dir, exportsDir)
	paths, err := filepath.Glob(filepath.Join(escapeGlob(root), "*", checkpointFile))
	if err != nil {
		return false, err
	}
	for _, path := range paths {
		text, err := readWhole(path)
		if err != nil {
			return false, err
		}
		var c checkpoint
		if err := json.Unmarshal(text, &c); err != nil || len(c.Segments) == 0 {
			return false, fmt.Errorf("%s: not a checkpoint: delete the directory to begin anew: %w", path, errors.Join(err, errors.New("it has no segments")))
		}
		if c.TableARN == aws.ToString(table.TableArn) && c.TableID == aws.ToString(table.TableId) {
			x.at, x.folder.path = c, filepath.Dir(path)
			for _, s := range c.Segments {
				for _, f := range s.Files {
					x.progress.Items += f.ItemCount
					x.progress.Files++
				}
			}
			return true, nil
		}
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	now := time.Now().UTC()
	x.at = checkpoint{
		ID:       fmt.Sprintf("%014d-%s", now.UnixMilli(), hex.EncodeToString(random[:])),
		TableARN: aws.ToString(table.TableArn), TableID: aws.ToString(table.TableId),
		Started: now, Segments: make([]segment, x.options.Segments),
	}
	x.folder.path = filepath.Join(root, x.at.ID)
	if err := os.MkdirAll(filepath.Join(x.folder.path, dataDir), 0o700); err != nil {
		return false, err
	}
	return false, x.save()
}

// save stores the checkpoint. The caller holds mu, or is alone.
func (x *exporter) save() error {
	text, err := json.Marshal(&x.at)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(x.folder.path, checkpointFile), text)
}

// scanAll reads all segments. The first error ends the others.
func (x *exporter) scanAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	for i := range x.at.Segments {
		if !x.at.Segments[i].Done {
			work.Go(func() {
				if err := x.scan(ctx, i); err != nil {
					cancel(err)
				}
			})
		}
	}
	work.Wait()
	return context.Cause(ctx)
}

// scan reads the rest of a segment.
func (x *exporter) scan(ctx context.Context, i int) error {
	var last Item
	if line := x.at.Segments[i].Last; line != "" {
		var err error
		if last, err = parseLine(line); err != nil {
			return fmt.Errorf("%s: the key of segment %d is damaged: delete the directory to begin anew: %w", x.folder.path, i, err)
		}
	}
	for {
		end, err := x.scanFile(ctx, i, last)
		if err != nil || end == nil {
			return err
		}
		last = end
	}
}

// scanFile fills a file with what follows in a segment. It returns the last key, nil
// if the segment is at its end.
func (x *exporter) scanFile(ctx context.Context, i int, last Item) (end Item, err error) {
	name := fmt.Sprintf("%04d-%06d.json.gz", i, len(x.at.Segments[i].Files))
	w, err := newFileWriter(filepath.Join(x.folder.path, dataDir, name))
	if err != nil {
		return nil, err
	}
	for {
		page, err := x.page(ctx, i, last)
		if err != nil {
			return nil, errors.Join(err, w.discard())
		}
		for _, it := range page.Items {
			if err := w.add(it); err != nil {
				return nil, errors.Join(fmt.Errorf("write %s: %w", name, err), w.discard())
			}
		}
		last = page.LastEvaluatedKey
		x.tell(len(page.Items), 0)
		if len(last) == 0 || w.bytes >= x.options.fileBytes {
			break
		}
	}
	f, err := w.close()
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	f.DataFileS3Key = strings.Join([]string{exportsDir, x.at.ID, dataDir, name}, "/")
	if len(last) == 0 {
		last = nil
	}
	return last, x.came(i, f, last, w.bytes)
}

// came notes that a file is whole.
func (x *exporter) came(i int, f dataFile, last Item, bytes int64) error {
	line := []byte(nil)
	if last != nil {
		var err error
		if line, err = appendLine(nil, last); err != nil {
			return err
		}
	}
	if err := syncDir(filepath.Join(x.folder.path, dataDir)); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s := &x.at.Segments[i]
	s.Files, s.Last, s.Done = append(s.Files, f), strings.TrimSpace(string(line)), last == nil
	x.at.Bytes += bytes
	x.progress.Files++
	return x.save()
}

// page reads a page. It waits while the table throttles.
func (x *exporter) page(ctx context.Context, i int, last Item) (*dynamodb.ScanOutput, error) {
	in := &dynamodb.ScanInput{
		TableName: &x.options.Table, Segment: aws.Int32(int32(i)), TotalSegments: aws.Int32(int32(len(x.at.Segments))),
		ExclusiveStartKey: last, ConsistentRead: aws.Bool(!x.options.Eventual), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := x.pace.wait(ctx); err != nil {
			return nil, err
		}
		out, err := x.client.Scan(ctx, in)
		if err == nil {
			units := aws.ToFloat64(consumed(out.ConsumedCapacity))
			x.pace.spend(units)
			x.tell(0, units)
			return out, nil
		}
		if !throttled(err) {
			return nil, fmt.Errorf("scan table %s: %w", x.options.Table, err)
		}
		x.wait(reason(err))
		if err := rest(ctx, pause); err != nil {
			return nil, err
		}
	}
}

const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

func consumed(c *types.ConsumedCapacity) *float64 {
	if c == nil {
		return nil
	}
	return c.CapacityUnits
}

// throttled reports whether to try again what the SDK has given up.
func throttled(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && slices.Contains([]string{
		"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded", "ServiceUnavailable",
	}, answer.ErrorCode())
}

// reason is why a request is sent again, in the words of the answer; nil: a part of it was not processed.
func reason(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	}
	return "the table throttles"
}

// wait tells that the table gives nothing at the moment.
func (x *exporter) wait(why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.progress.Waiting = why
	if x.options.Progress != nil {
		x.options.Progress(x.progress)
	}
}

// tell counts what has been read.
func (x *exporter) tell(items int, units float64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.progress.Items += int64(items)
	x.progress.Units += units
	x.progress.Waiting = ""
	if x.options.Progress != nil {
		x.options.Progress(x.progress)
	}
}

// finish writes the manifests and removes what only an unfinished export has.
func (x *exporter) finish(table *types.TableDescription) error {
	f := &x.folder
	known := map[string]bool{}
	for _, s := range x.at.Segments {
		for _, file := range s.Files {
			f.files = append(f.files, file)
			f.summary.ItemCount += file.ItemCount
			known[file.name()] = true
		}
	}
	x.progress.Items = f.summary.ItemCount
	entries, err := os.ReadDir(filepath.Join(f.path, dataDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !known[e.Name()] { // cut short, and not needed when the segment was read again
			if err := os.Remove(filepath.Join(f.path, dataDir, e.Name())); err != nil {
				return err
			}
		}
	}
	text, err := json.MarshalIndent(schemaOf(table), "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(f.path, tableFile), text); err != nil {
		return err
	}
	s, now := &f.summary, time.Now().UTC()
	s.Version, s.OutputFormat, s.ExportType = "2020-06-30", dynamoDBJSON, fullExport
	s.TableARN, s.TableID, s.ExportARN = x.at.TableARN, x.at.TableID, x.at.TableARN+"/export/"+x.at.ID
	s.StartTime, s.ExportTime, s.EndTime, s.BilledSizeBytes = moment{x.at.Started}, moment{x.at.Started}, moment{now}, x.at.Bytes
	s.ManifestFilesS3Key = strings.Join([]string{exportsDir, x.at.ID, filesFile}, "/")
	if err := f.write(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(f.path, checkpointFile))
}
