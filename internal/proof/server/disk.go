package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// disk is a small file system that the proof has mounted, and a file of somebody else's that takes its room.
type disk struct {
	dir     string
	balloon *os.File
}

const diskSize = 128 << 20

// mount makes a disk in memory. Only root may.
func (p *proof) mount(ctx context.Context) (*disk, error) {
	d := &disk{dir: filepath.Join(p.work, "disk")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskSize), "heatsink-proof", d.dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("mount a tmpfs: %w: %s", err, strings.TrimSpace(string(out)))
	}
	p.atEnd(func() {
		d.free()
		// Lazily, as something may still hold a file; and without the context, which may be over.
		if out, err := exec.Command("umount", "-l", d.dir).CombinedOutput(); err != nil {
			progress("umount %s: %v: %s", d.dir, err, out)
		}
	})
	return d, nil
}

func (d *disk) data() string { return filepath.Join(d.dir, "data") }

// take lets the balloon grow until the disk is full, in steps with pauses between them.
func (d *disk) take(ctx context.Context, step int, pause time.Duration) (err error) {
	if d.balloon == nil {
		if d.balloon, err = os.Create(filepath.Join(d.dir, "balloon")); err != nil {
			return nil // there is no room for its name
		}
	}
	chunk := make([]byte, step)
	for len(chunk) > 0 {
		if n, err := d.balloon.Write(chunk); err != nil || n < len(chunk) {
			chunk = chunk[:len(chunk)/2] // what is left is less
			continue
		}
		if pause > 0 {
			if err := sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepFull takes what becomes free, for a time.
func (d *disk) keepFull(ctx context.Context, long time.Duration, meanwhile func()) error {
	for until := time.Now().Add(long); time.Now().Before(until); {
		if err := d.take(ctx, 4096, 0); err != nil {
			return err
		}
		if meanwhile != nil {
			meanwhile()
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// free removes the balloon.
func (d *disk) free() {
	if d.balloon != nil {
		_ = os.Remove(d.balloon.Name())
		_ = d.balloon.Close()
		d.balloon = nil
	}
}

// fullDisk fills the disk of a server that runs, of one that starts, and at once.
func fullDisk(ctx context.Context, p *proof) error {
	if err := p.failingFlushes(ctx); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		p.skip("a full disk", "only root may mount one")
		return nil
	}
	d, err := p.mount(ctx)
	if err != nil {
		p.skip("a full disk", firstLine(err))
		return nil
	}
	items := &ledger{size: 16 << 10}
	if err := p.fullWhileRunning(ctx, d, items); err != nil {
		return fmt.Errorf("full while it runs: %w", err)
	}
	if err := p.fullAtStart(ctx, d, items); err != nil {
		return fmt.Errorf("full when it starts: %w", err)
	}
	return p.fullAtOnce(ctx, d, items)
}

// onDisk starts a server on the small disk.
func (p *proof) onDisk(ctx context.Context, d *disk) (*process, error) {
	return p.serve(ctx, launch{args: []string{"--data", d.data()}, env: signed})
}

func (p *proof) fullWhileRunning(ctx context.Context, d *disk, items *ledger) error {
	s, err := p.onDisk(ctx, d)
	if err != nil {
		return err
	}
	defer func() { s.kill() }()
	c := client(s.url, 16, once)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	stop := items.keepPutting(ctx, c, 8, 20*time.Millisecond)
	defer func() { stop() }()
	if err := sleep(ctx, 3*time.Second); err != nil {
		return err
	}
	if err := d.take(ctx, 1<<20, 20*time.Millisecond); err != nil {
		return err
	}
	refused, lines, full, reads := items.refused.Load(), s.stderr.count(), time.Now(), &latencies{}
	used, _ := s.cpu() // a server that is gone has used none
	err = d.keepFull(ctx, p.pick(10*time.Second, 3*time.Second), func() {
		if id := items.any(); id != "" && s.alive() {
			began := time.Now()
			reads.add(began, items.check(ctx, c, id))
		}
	})
	if err != nil {
		return err
	}
	lived := s.alive()
	share := "ended"
	busy := 1.0
	if after, err := s.cpu(); err == nil && lived {
		busy = (after - used).Seconds() / time.Since(full).Seconds()
		share = fmt.Sprintf("%.0f %%", 100*busy)
	}
	p.figure("1a while full: the server", "ended", map[bool]string{true: "lives", false: "ended"}[lived], "lives", lived)
	p.figure("1a while full: puts refused with an error that SDKs retry", "0 (3478 cut off)", fmt.Sprintf("%d (%d cut off, %d not to be retried)", items.refused.Load()-refused, items.cut.Load(), items.fatal.Load()),
		"some, and no other", items.refused.Load() > refused && items.cut.Load() == 0 && items.fatal.Load() == 0)
	p.figure("1a while full: reads answered", "1, then it ended", of(len(reads.took), len(reads.took)+reads.failed), "all", lived && len(reads.took) > 0 && reads.failed == 0)
	p.figure("1a while full: processor share", "ended", share, "<= 30 %", lived && busy <= 0.3)
	p.figure("1a while full: log lines", "1 before it ended", fmt.Sprint(s.stderr.count()-lines), "< 50", lived && s.stderr.count()-lines < 50)
	if text, ok := items.refusal.Load().(string); ok {
		progress("  refused with: %s", text)
	}
	if !lived {
		progress("  it said: %s", s.stderr.last())
	}

	d.free()
	freed, before := time.Now(), items.acknowledged()
	for s.alive() && items.acknowledged() == before && time.Since(freed) < 20*time.Second {
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	resumed, after := items.acknowledged() > before, "not by itself"
	if resumed {
		after = "after " + seconds(time.Since(freed))
	}
	p.figure("1a freed: writes go on", "not by itself", after, "after < 10 s", resumed && time.Since(freed) < 10*time.Second)
	stop()
	s.kill() // nothing acknowledged may need a proper end
	return p.nothingLost(ctx, d, items, "1a")
}

// nothingLost starts a server and looks for every acknowledged item.
func (p *proof) nothingLost(ctx context.Context, d *disk, items *ledger, name string) error {
	s, err := p.onDisk(ctx, d)
	if err != nil {
		p.figure(name+" freed: starts with everything", "0 lost", firstLine(err), "0 lost", false)
		return nil
	}
	defer s.kill()
	lost, err := items.lost(ctx, client(s.url, 4))
	p.figure(name+" freed: starts with everything", "0 lost", fmt.Sprintf("%d lost of %d", lost, items.acknowledged()), "0 lost", lost == 0 && items.acknowledged() > 0)
	return err
}

// fullAtStart starts servers where there is no room at all, after a server that was killed with everything in its log.
func (p *proof) fullAtStart(ctx context.Context, d *disk, items *ledger) error {
	const limit, fullBefore = 30 * time.Second, "still there after 30 s, 84 % of a processor"
	if err := d.take(ctx, 1<<20, 0); err != nil {
		return err
	}
	arguments := launch{args: []string{"serve", "--addr", "127.0.0.1:0", "--data", d.data()}, env: signed}
	s, err := p.launch(arguments)
	if err != nil {
		return err
	}
	ended := s.wait(p.pick(limit, 10*time.Second))
	used, _ := s.cpu()
	lived := time.Since(s.begun)
	if ended {
		p.figure("1b start on a full disk", fullBefore, fmt.Sprintf("ends after %s, exit code %d", seconds(s.took), s.code()), "ends in < 30 s, code not 0", s.code() != 0)
	} else {
		p.figure("1b start on a full disk", fullBefore, fmt.Sprintf("still there after %s, %.0f %% of a processor", seconds(lived), 100*used.Seconds()/lived.Seconds()), "ends in < 30 s, code not 0", false)
	}
	progress("  it said: %s", s.stderr.last())
	s.kill()
	p.figure("1b start on a full disk: log lines", "155826 in 30 s", fmt.Sprint(s.stderr.count()), "1 to 49", s.stderr.count() > 0 && s.stderr.count() < 50)

	if s, err = p.launch(arguments); err != nil {
		return err
	}
	if err := sleep(ctx, 200*time.Millisecond); err != nil {
		return err
	}
	if !s.alive() {
		p.figure("1b SIGTERM while it starts", "ignored", "had ended by itself", "ends in < 5 s", true)
	} else {
		took, ended := s.terminate(10 * time.Second)
		after := "ignored"
		if ended {
			after = "ends after " + seconds(took)
		}
		p.figure("1b SIGTERM while it starts", "ignored", after, "ends in < 5 s", ended && took < 5*time.Second)
	}
	d.free()
	return p.nothingLost(ctx, d, items, "1b")
}

// fullAtOnce takes all room faster than a server can notice, so that its log cannot be written.
func (p *proof) fullAtOnce(ctx context.Context, d *disk, items *ledger) error {
	rounds, silent, said := 3, 0, map[string]int{}
	for range rounds {
		s, err := p.onDisk(ctx, d)
		if err != nil {
			return fmt.Errorf("full at once: %w", err)
		}
		stop := items.keepPutting(ctx, client(s.url, 8, once), 8, 0)
		err = sleep(ctx, 300*time.Millisecond)
		if err == nil {
			err = d.take(ctx, 16<<20, 0)
		}
		if err == nil {
			err = d.keepFull(ctx, 3*time.Second, nil)
		}
		stop()
		switch {
		case s.alive():
			said["refuses writes"]++
		case s.code() > 0 && s.stderr.count() > 0:
			said["ends with a message"]++
		default:
			silent++
		}
		s.kill()
		d.free()
		if err != nil {
			return err
		}
	}
	p.figure("1c full at once: what the server does", "ends with a message: 3", fmt.Sprintf("ends with a message: %d, refuses writes: %d, neither: %d", said["ends with a message"], said["refuses writes"], silent),
		"no other", silent == 0)
	return p.nothingLost(ctx, d, items, "1c")
}

// failingFlushes serves from a disk on which no table file can be made, while the log can be written.
func (p *proof) failingFlushes(ctx context.Context) error {
	s, err := p.serveChild(ctx, filepath.Join(p.work, "flushes"), "flushes")
	if err != nil {
		return err
	}
	defer s.kill()
	c := client(s.url, 8, once)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	items := &ledger{size: 300 << 10}
	for items.acknowledged() < 40<<20/items.size { // more than a memtable
		if !items.put(ctx, c) {
			return errors.New("a put fails though the log can be written")
		}
	}
	lines, began := s.stderr.count(), time.Now()
	used, err := s.cpu()
	if err != nil {
		return err
	}
	if err := sleep(ctx, p.pick(10*time.Second, 3*time.Second)); err != nil {
		return err
	}
	after, err := s.cpu()
	if err != nil {
		return err
	}
	long := time.Since(began).Seconds()
	share := (after - used).Seconds() / long
	rate := float64(s.stderr.count()-lines) / long
	p.figure("1d flushes fail: log lines a second", "12786.0", fmt.Sprintf("%.1f", rate), "<= 1", rate <= 1)
	p.figure("1d flushes fail: processor share", "66 %", fmt.Sprintf("%.0f %%", 100*share), "<= 10 %", share <= 0.1)
	took, ended := s.terminate(20 * time.Second)
	what := "does not end"
	if ended {
		what = "ends after " + seconds(took)
	}
	p.figure("1d flushes fail: SIGTERM", "ends after 0.33 s", what, "ends in < 10 s", ended && took < 10*time.Second)
	return nil
}

// pick returns how long something takes, in full or quick.
func (p *proof) pick(full, quick time.Duration) time.Duration {
	if p.quick {
		return quick
	}
	return full
}
