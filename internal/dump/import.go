package dump

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ImportOptions say what is imported, and where to.
type ImportOptions struct {
	Dir        string  // of one export, or one in which there is one
	Table      string  // empty: the table of the export
	Key, Sort  string  // of a table that is to be created, such as pk:S and sk:N. Empty: as the export says
	Workers    int     // requests at the same time. Zero: 8
	WCU        float64 // largest rate of writes, in units per second. Zero: without a limit
	Replace    bool    // write into a table that has items
	Checkpoint string  // file that says how far it has come. Empty: in the export's directory
	Progress   func(Progress)
}

// imported is the checkpoint of an import: the files whose items are in the table.
type imported struct {
	ExportARN string
	Manifest  string // the MD5 of the files' manifest
	TableID   string
	Files     []string
}

// importer is an import under way.
type importer struct {
	client  Client
	options ImportOptions
	folder  *folder
	pace    pace
	done    imported
	key     tableKey
	recent  *recentKeys

	mu       sync.Mutex
	progress Progress
}

// Import writes the items of an export into a table, which it creates if there is
// none. If it was cut short, it goes on with the file that it was at: its items are
// written again.
//
// One import at a time uses a checkpoint.
func Import(ctx context.Context, client Client, options ImportOptions) (result Result, err error) {
	options.Workers = cmp.Or(options.Workers, 8)
	f, err := openFolder(ctx, options.Dir)
	if err != nil {
		return Result{}, err
	}
	options.Table = cmp.Or(options.Table, f.summary.table())
	if options.Table == "" {
		return Result{}, fmt.Errorf("%s: the export does not say of which table it is: name the table to import into", f.path)
	}
	m := &importer{client: client, options: options, folder: f, pace: pace{rate: options.WCU}, recent: newRecentKeys()}
	m.options.Checkpoint = cmp.Or(options.Checkpoint, filepath.Join(f.path, "import-"+options.Table[strings.LastIndex(options.Table, "/")+1:]+".json")) // without the rest of an ARN
	m.progress.Of = f.summary.ItemCount
	held, err := m.lock()
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, held.release()) }()
	resumed, created, err := m.begin(ctx)
	if err == nil {
		err = m.writeAll(ctx)
	}
	result = Result{
		Path: f.path, Table: options.Table, Items: m.progress.Items, Files: m.progress.Files,
		Units: m.progress.Units, Resumed: resumed, Created: created,
	}
	if err != nil {
		return result, err
	}
	return result, os.Remove(m.options.Checkpoint)
}

// table is the name of the table that was exported.
func (s *summary) table() string {
	_, name, _ := strings.Cut(s.TableARN, ":table/")
	return name
}

// lock keeps other imports from the checkpoint.
func (m *importer) lock() (*lock, error) {
	held, err := takeLock(m.options.Checkpoint + ".lock")
	switch {
	case errors.Is(err, errHeld):
		return nil, fmt.Errorf("%s: another import uses this checkpoint: wait until it ends, or name another file", m.options.Checkpoint)
	case err != nil:
		return nil, unwritable(err)
	}
	return held, nil
}

func unwritable(err error) error {
	return fmt.Errorf("write the checkpoint, for which another file can be named: %w", err)
}

// begin finds or creates the table, and the checkpoint.
func (m *importer) begin(ctx context.Context) (resumed, created bool, err error) {
	table := m.options.Table
	found, err := readImported(m.options.Checkpoint) // first of all: a table is not created in vain
	if err != nil {
		return false, false, err
	}
	out, err := m.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	var description *types.TableDescription
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		if m.folder.changes() {
			return false, false, fmt.Errorf("table %s does not exist, and %s has only what has changed in it: import a full export first", table, m.folder.path)
		}
		s, err := m.folder.schemaFor(table, m.options.Key, m.options.Sort)
		if err != nil {
			return false, false, err
		}
		if err := m.survey(ctx, keyOf(s.KeySchema, s.AttributeDefinitions)); err != nil {
			return false, false, err
		}
		if description, err = create(ctx, m.client, s.input(table)); err != nil {
			return false, false, err
		}
		created = true
	} else if err != nil {
		return false, false, fmt.Errorf("describe table %s: %w", table, err)
	} else {
		description = out.Table
	}
	m.key = keyOf(description.KeySchema, description.AttributeDefinitions)
	if err := m.checkKeys(); err != nil {
		return false, created, err
	}
	manifest, err := readWhole(filepath.Join(m.folder.path, filesFile))
	if err != nil {
		return false, created, err
	}
	m.done = imported{ExportARN: m.folder.summary.ExportARN, Manifest: checksum(manifest), TableID: aws.ToString(description.TableId)}
	if found != nil && m.resume(found) {
		return true, created, nil
	}
	if !created && !m.options.Replace {
		if err := m.empty(ctx); err != nil {
			return false, false, err
		}
	}
	return false, created, m.save()
}

// checkKeys refuses keys that were given and are not those of the table.
func (m *importer) checkKeys() error {
	if m.options.Key == "" && m.options.Sort == "" {
		return nil
	}
	given, err := m.folder.schemaFor(m.options.Table, m.options.Key, m.options.Sort)
	if err != nil {
		return err
	}
	if k := keyOf(given.KeySchema, given.AttributeDefinitions); k.String() != m.key.String() {
		return fmt.Errorf("table %s has the key %v, but %v is given: give none, as the table exists", m.options.Table, m.key, k)
	}
	return nil
}

// surveyed is how many items are read before a table is created.
const surveyed = 10_000

// survey holds the first items against the key of a table that is to be created: a wrong one is noticed while there is none.
func (m *importer) survey(ctx context.Context, key tableKey) error {
	seen, left, enough := newRecentKeys(), surveyed, errors.New("enough")
	for i := range m.folder.files {
		f := &m.folder.files[i]
		if f.ItemCount == 0 {
			continue
		}
		path := m.folder.dataPath(f)
		if err := m.verify(ctx, f, path); err != nil {
			return err
		}
		_, err := readLines(ctx, path, func(number int, line string) error {
			if left--; left < 0 {
				return enough
			}
			_, err := m.request(path, number, line, key, seen)
			return err
		})
		if errors.Is(err, enough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readImported reads a checkpoint, nil if there is none. A file that is anything else is left alone.
func readImported(path string) (*imported, error) {
	text, err := readWhole(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found imported
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&found)
	if _, rest := d.Token(); err == nil && !errors.Is(rest, io.EOF) {
		err = errors.New("there is more behind it")
	}
	if sum, wrong := base64.StdEncoding.DecodeString(found.Manifest); err == nil && (wrong != nil || len(sum) != md5.Size) {
		err = errors.New("it has no MD5 of a manifest")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not the checkpoint of an import, so it is not overwritten: name another file, or one that does not exist: %w", path, err)
	}
	return &found, nil
}

// resume goes on from a checkpoint, if it is one of this import.
func (m *importer) resume(found *imported) bool {
	if found.ExportARN != m.done.ExportARN || found.Manifest != m.done.Manifest || found.TableID != m.done.TableID {
		return false // of another export, or of a table that is gone
	}
	m.done = *found
	for i := range m.folder.files {
		if f := &m.folder.files[i]; slices.Contains(found.Files, f.name()) {
			m.progress.Items += f.ItemCount
			m.progress.Files++
		}
	}
	return true
}

func (m *importer) save() error {
	text, err := json.Marshal(&m.done)
	if err != nil {
		return err
	}
	if err := replaceFile(m.options.Checkpoint, text); err != nil {
		return unwritable(err)
	}
	return nil
}

// empty refuses a table that has items.
func (m *importer) empty(ctx context.Context) error {
	out, err := m.client.Scan(ctx, &dynamodb.ScanInput{TableName: &m.options.Table, Limit: aws.Int32(1), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return fmt.Errorf("scan table %s: %w", m.options.Table, err)
	}
	if out.Count > 0 {
		return &NotEmptyError{m.options.Table}
	}
	return nil
}

// NotEmptyError says that a table has items that an import could replace.
type NotEmptyError struct{ Table string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("table %s has items: an import replaces or deletes those with the same keys and keeps the others; say that this is wanted, or import into an empty table", e.Table)
}

// writeAll writes the files that are not in the table, one after the other.
func (m *importer) writeAll(ctx context.Context) error {
	for i := range m.folder.files {
		f := &m.folder.files[i]
		if slices.Contains(m.done.Files, f.name()) {
			continue
		}
		path := m.folder.dataPath(f)
		if err := m.verify(ctx, f, path); err != nil {
			return err
		}
		items, err := m.writeFile(ctx, path, f.ItemCount)
		if err != nil {
			return err
		}
		if items != f.ItemCount {
			return fmt.Errorf("%s: it has %d items, but the manifest says %d: the manifest is damaged", path, items, f.ItemCount)
		}
		m.done.Files = append(m.done.Files, f.name())
		m.progress.Files++
		if err := m.save(); err != nil {
			return err
		}
	}
	return nil
}

// verify compares a data file with its MD5.
func (m *importer) verify(ctx context.Context, f *dataFile, path string) error {
	err := verifyFile(ctx, path, f.MD5)
	switch {
	case errors.Is(err, fs.ErrNotExist) && m.folder.changes():
		return fmt.Errorf("%w: the data of an incremental export is in the directory %s beside its own; copy that, too", err, dataDir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the manifest names a file that is not here; copy the whole export, with its directory %s", err, dataDir)
	}
	return err
}

// batch is what one request writes.
type batch struct {
	first, last int // lines
	writes      []types.WriteRequest
	size        int
}

const (
	maxBatch      = 25
	maxBatchBytes = 1 << 20
)

// writeFile writes the items of a file, which has no more than most. The first error ends the rest.
func (m *importer) writeFile(ctx context.Context, path string, most int64) (items int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan batch)
	var work sync.WaitGroup
	for range m.options.Workers {
		work.Go(func() {
			for b := range batches {
				if err := m.write(ctx, b); err != nil {
					cancel(fmt.Errorf("%s, lines %d to %d: %w", path, b.first, b.last, err))
					return
				}
			}
		})
	}
	var b batch
	send := func() error {
		select {
		case batches <- b:
			b = batch{}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	left := most
	items, err = readLines(ctx, path, func(number int, line string) error {
		if left--; left < 0 {
			return fmt.Errorf("%s: it has more than the %d items that the manifest says: the manifest is damaged", path, most)
		}
		w, err := m.request(path, number, line, m.key, m.recent)
		if err != nil {
			return err
		}
		if len(b.writes) == 0 {
			b.first = number
		}
		b.last = number
		b.size += len(line)
		b.writes = append(b.writes, w)
		if len(b.writes) == maxBatch || b.size >= maxBatchBytes {
			return send()
		}
		return nil
	})
	if err == nil && len(b.writes) > 0 {
		err = send()
	}
	close(batches)
	work.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return items, cause
	}
	return items, err
}

// request is the write that a line asks for, of a table with this key. Its key is none of those seen.
func (m *importer) request(path string, number int, line string, key tableKey, seen *recentKeys) (types.WriteRequest, error) {
	r, err := parseRow(line)
	var w types.WriteRequest
	if err == nil {
		w, err = r.request(m.folder.changes(), key.names)
	}
	if err != nil {
		return w, wrongLine{err}
	}
	where := fmt.Sprintf("%s, line %d", path, number)
	if err := key.check(&r); err != nil {
		return w, fmt.Errorf("%s: %w", where, err)
	}
	if before := seen.add(key, &r, where); before != "" {
		return w, fmt.Errorf("%s: its key is that of %s, and would replace it; the table with the key %v is not like the exported one: is a sort key missing (--sort)?", where, before, key)
	}
	return w, nil
}

// write writes a batch. It waits while the table throttles.
func (m *importer) write(ctx context.Context, b batch) error {
	table, n := m.options.Table, len(b.writes)
	for pause := firstPause; len(b.writes) > 0; {
		if err := m.pace.wait(ctx); err != nil {
			return err
		}
		out, err := m.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: b.writes}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil && !throttled(err) {
			return fmt.Errorf("write to table %s: %w", table, err)
		}
		if err == nil {
			var units float64
			for i := range out.ConsumedCapacity {
				units += aws.ToFloat64(out.ConsumedCapacity[i].CapacityUnits)
			}
			m.pace.spend(units)
			m.tell(0, units)
			var left []types.WriteRequest
			for _, list := range out.UnprocessedItems { // under the table's name, or its ARN
				left = append(left, list...)
			}
			if len(left) < len(b.writes) {
				pause = firstPause
			}
			b.writes = left
		}
		if len(b.writes) > 0 {
			m.wait(reason(err))
			if err := rest(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, longestPause)
		}
	}
	m.tell(n, 0)
	return nil
}

// tell counts what has been written.
func (m *importer) tell(items int, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.progress.Items += int64(items)
	m.progress.Units += units
	m.progress.Waiting = ""
	if m.options.Progress != nil {
		m.options.Progress(m.progress)
	}
}

// wait tells that the table takes nothing at the moment.
func (m *importer) wait(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.progress.Waiting = why
	if m.options.Progress != nil {
		m.options.Progress(m.progress)
	}
}
