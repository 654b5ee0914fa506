package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// smaller runs the attacks that need little each.
func smaller(ctx context.Context, p *proof) error {
	for _, attack := range []func(context.Context) error{
		p.longList, p.modes, p.refusedSettings, p.missingLog, p.expiry, p.deletedLock, p.endlessAnswers,
	} {
		if err := attack(ctx); err != nil {
			return err
		}
	}
	return nil
}

// longList sends lists of 4 MB to CloudWatch's path: of many lists, and of lists in lists.
func (p *proof) longList(ctx context.Context) error {
	const size = 4<<20 - 64
	wide := append([]byte("\xa1\x71MetricDataQueries\x9a"), binary.BigEndian.AppendUint32(nil, size-30)...)
	wide = append(wide, bytes.Repeat([]byte{0x80}, size-30)...)
	deep := append([]byte("\xa1\x71MetricDataQueries"), bytes.Repeat([]byte{0x81}, size-30)...)
	deep = append(deep, 0x80)
	for _, list := range []struct {
		name, time, grown string
		body              []byte
	}{{"lists side by side", "3.44 s", "+327 MB", wide}, {"lists in lists", "0.04 s", "+11 MB", deep}} {
		s, err := p.serve(ctx, launch{args: []string{"--physics"}})
		if err != nil {
			return err
		}
		before, err := s.peak()
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/service/GraniteServiceVersion20100801/operation/GetMetricData", bytes.NewReader(list.body))
		if err != nil {
			return err
		}
		r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		r.Header.Set("Content-Type", "application/cbor")
		began := time.Now()
		response, err := (&http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		took := time.Since(began)
		status := "hangs up"
		if err == nil {
			status = fmt.Sprint(response.StatusCode)
			_ = response.Body.Close()
		}
		after, err := s.peak()
		if err != nil || !s.alive() {
			p.figure("6 CBOR of 4 MB, "+list.name, list.time, "the server ended: "+s.stderr.last(), "lives", false)
			continue
		}
		s.kill()
		p.figure("6 CBOR of 4 MB, "+list.name+": time", list.time, seconds(took)+", "+status, "<= 1 s, not 200", took <= time.Second && status != "200")
		p.figure("6 CBOR of 4 MB, "+list.name+": memory", list.grown, "+"+megabytes(after-before), "<= +64 MB", after-before <= 64_000_000)
	}
	return nil
}

// modes looks at who may read a data directory.
func (p *proof) modes(ctx context.Context) error {
	dir := filepath.Join(p.work, "modes")
	s, err := p.serve(ctx, launch{args: []string{"--data", dir}})
	if err != nil {
		return err
	}
	defer s.kill()
	if err := createTable(ctx, client(s.url, 1), table); err != nil {
		return err
	}
	open, all := 0, 0
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server has deleted it since
		}
		if err != nil {
			return err
		}
		all++
		if info.Mode().Perm()&0o077 != 0 {
			open++
		}
		return nil
	})
	p.figure("6 files and directories that others may read", "11 of 11", of(open, all), "0", open == 0 && all > 0)
	return err
}

// refusedSettings starts servers that must not start.
func (p *proof) refusedSettings(ctx context.Context) error {
	for _, setting := range []struct {
		name, before string
		args, env    []string
	}{
		{`6 --data ""`, "starts, in memory", []string{"--data", ""}, nil},
		{`6 --data " "`, "starts, in a directory of that name", []string{"--data", " "}, nil},
		{"6 an access key with a slash", "starts, and refuses everybody", nil, []string{"HEATSINK_ACCESS_KEY_ID=a/b", "HEATSINK_SECRET_ACCESS_KEY=c"}},
	} {
		s, err := p.launch(launch{args: append([]string{"serve", "--addr", "127.0.0.1:0"}, setting.args...), env: setting.env})
		if err != nil {
			return err
		}
		after := "refused"
		if err := s.up(ctx, 10*time.Second); err == nil {
			after = "starts"
		} else {
			progress("    %s", s.stderr.last())
		}
		s.kill()
		p.figure(setting.name, setting.before, after, "refused", after == "refused" && s.code() > 0)
	}
	return ctx.Err()
}

// missingLog deletes a log between two others, which only a disk that cannot be flushed to keeps.
func (p *proof) missingLog(ctx context.Context) error {
	dir := filepath.Join(p.work, "logs")
	s, err := p.serveChild(ctx, dir, "flushes")
	if err != nil {
		return err
	}
	defer s.kill()
	c := client(s.url, 4, once)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	items := &ledger{size: 300 << 10}
	for items.acknowledged() < 80<<20/items.size { // two memtables and a half
		if !items.put(ctx, c) {
			break // too much to keep in memory
		}
	}
	s.kill()
	logs, err := filepath.Glob(filepath.Join(dir, "db", "*.log"))
	if err != nil || len(logs) < 3 {
		return fmt.Errorf("got logs %q, %v, want three", logs, err)
	}
	slices.Sort(logs)
	middle := logs[len(logs)/2]
	if err := os.Remove(middle); err != nil {
		return err
	}
	after := "refused"
	started, err := p.serve(ctx, launch{args: []string{"--data", dir}, env: signed})
	if err == nil {
		lost, err := items.lost(ctx, client(started.url, 4))
		if err != nil {
			return err
		}
		after = fmt.Sprintf("starts, %s lost", of(lost, items.acknowledged()))
		started.kill()
	} else if !strings.Contains(err.Error(), "a log is missing: "+filepath.Base(logs[len(logs)/2+1])) {
		after = "refused for another reason: " + firstLine(err)
	}
	p.figure("6 a log missing between two others", "starts, 27 of 273 lost", after, "refused", after == "refused")
	return ctx.Err()
}

// expiry signs requests in their address, with times to live that cannot be.
func (p *proof) expiry(ctx context.Context) error {
	s, err := p.serve(ctx, launch{env: signed})
	if err != nil {
		return err
	}
	defer s.kill()
	for _, expires := range []struct{ value, before, want string }{
		{"300", "200", "200"}, {"-1", "200", "refused"}, {"9999999999999999999", "200", "refused"}, {"604801", "200", "refused"}, {"x", "200", "refused"},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/?X-Amz-Expires="+expires.value, strings.NewReader("{}"))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		hash := sha256.Sum256([]byte("{}"))
		address, headers, err := v4.NewSigner().PresignHTTP(ctx, aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, r,
			hex.EncodeToString(hash[:]), "dynamodb", "us-east-1", time.Now(),
			// The operation stays a header, where the server looks for it.
			func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true })
		if err != nil {
			return err
		}
		again, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("{}"))
		if err != nil {
			return err
		}
		for name, values := range headers {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
		again.Header.Set("Content-Type", "application/x-amz-json-1.0")
		again.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		response, err := http.DefaultClient.Do(again)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		after := fmt.Sprint(response.StatusCode)
		if response.StatusCode/100 == 4 {
			after = "refused"
		}
		p.figure("6 X-Amz-Expires "+expires.value, expires.before, after, expires.want, after == expires.want)
	}
	return nil
}

// deletedLock deletes the lock file of a running server, and starts another one on its directory.
func (p *proof) deletedLock(ctx context.Context) error {
	dir := filepath.Join(p.work, "lock")
	first, err := p.serve(ctx, launch{args: []string{"--data", dir}, env: signed})
	if err != nil {
		return err
	}
	defer func() { first.kill() }()
	c := client(first.url, 4, once)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	items := &ledger{size: 1000}
	stop := items.keepPutting(ctx, c, 4, time.Millisecond)
	defer stop()
	if err := errors.Join(sleep(ctx, time.Second), os.Remove(filepath.Join(dir, "LOCK"))); err != nil {
		return err
	}
	after := "starts"
	second, err := p.serve(ctx, launch{args: []string{"--data", dir}, env: signed})
	switch {
	case err == nil:
		second.kill()
	case strings.Contains(err.Error(), "in use"):
		after = "in use"
	case strings.Contains(err.Error(), "damaged"):
		after = "damaged"
	default:
		after = firstLine(err)
	}
	p.figure("6 a second server after LOCK was deleted", "damaged", after, "in use", after == "in use")
	if err := sleep(ctx, time.Second); err != nil {
		return err
	}
	stop()
	what := "goes on"
	if !first.alive() {
		what = "ended: " + first.stderr.last()
	} else if items.cut.Load()+items.fatal.Load()+items.refused.Load() > 0 {
		what = "fails some"
	}
	_, ended := first.terminate(20 * time.Second)
	if first, err = p.serve(ctx, launch{args: []string{"--data", dir}, env: signed}); err != nil {
		p.figure("6 the first server meanwhile", "goes on, 0 lost", what+", then does not start: "+firstLine(err), "goes on, 0 lost", false)
		return nil
	}
	lost, err := items.lost(ctx, client(first.url, 4))
	p.figure("6 the first server meanwhile", "goes on, 0 lost", fmt.Sprintf("%s, %d lost", what, lost), "goes on, 0 lost", what == "goes on" && lost == 0 && ended)
	return err
}
