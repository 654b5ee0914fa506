package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
	"github.com/heatsink-go/heatsink/internal/proof/engine/draw"
)

// subject is an engine that runs and is asked.
type subject struct {
	name, version string
	without       []string // beginnings of the names of operations that it has not
	program       peer.Engine
	server        *peer.Server
	http          http.Client
	starts        int // how often it was started again
}

func newSubject(ctx context.Context, e peer.Engine) (*subject, error) {
	s := &subject{name: e.Name, version: e.Version, program: e}
	s.http.Transport = &http.Transport{MaxIdleConnsPerHost: 2, DisableCompression: true}
	s.http.Timeout = time.Minute
	if s.name == "dynalite" {
		s.without = []string{"Transact", "Execute", "BatchExecute"}
	}
	return s, s.start(ctx)
}

// start starts the engine, with empty tables.
func (s *subject) start(ctx context.Context) error {
	server, err := peer.Serve(ctx, s.program.Argv)
	if err != nil {
		return err
	}
	s.server = server
	for _, t := range draw.Tables {
		a, err := s.call(ctx, "CreateTable", t.Create())
		if err == nil && a.Type != "" {
			err = fmt.Errorf("%s: %s", a.Type, a.Message)
		}
		if err == nil {
			err = s.awaitActive(ctx, t.Name)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: create table %s: %w", s.name, t.Name, err), s.stop())
		}
	}
	return nil
}

// revive starts the engine again, after it ended by itself or could not be emptied.
func (s *subject) revive(ctx context.Context) error {
	const most = 100
	if s.starts++; s.starts > most {
		return fmt.Errorf("%s had to be started again %d times", s.name, s.starts)
	}
	if err := s.stop(); err != nil {
		return err
	}
	return s.start(ctx)
}

func (s *subject) stop() error {
	s.http.CloseIdleConnections()
	return s.server.Stop()
}

func (s *subject) awaitActive(ctx context.Context, table string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		a, err := s.call(ctx, "DescribeTable", draw.Body{"TableName": table})
		if err != nil {
			return err
		}
		fields, _ := a.Body.(map[string]any)
		description, _ := fields["Table"].(map[string]any)
		if description["TableStatus"] == "ACTIVE" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// has says whether the engine has an operation at all.
func (s *subject) has(operation string) bool {
	for _, beginning := range s.without {
		if strings.HasPrefix(operation, beginning) {
			return false
		}
	}
	return true
}

// doesParts says that the engine may do a part of a request that it refuses: DynamoDB Local does some statements of a batch before it
// notices that two are about one item.
func (s *subject) doesParts(operation string) bool {
	return s.name == "dynamodb-local" && operation == "BatchExecuteStatement"
}

// ask sends a request, all its pages if they are wanted, and returns the answer.
func (s *subject) ask(ctx context.Context, op draw.Op) (answer.Answer, error) {
	if !op.Pages {
		a, err := s.call(ctx, op.Name, op.Body)
		if err != nil || op.Changes == nil {
			return a, err
		}
		return a, s.lookUp(ctx, op, &a) // also of a request that was refused: it must have changed nothing
	}
	const most = 1000 // no drawn request has as many pages
	var pages []answer.Answer
	for body := op.Body; len(pages) < most; {
		a, err := s.call(ctx, op.Name, body)
		if err != nil {
			return a, err
		}
		pages = append(pages, a)
		name, value := answer.Next(a)
		if name == "" || a.Type != "" {
			return answer.Join(pages), nil
		}
		body = maps.Clone(body)
		body[name] = value
	}
	return answer.Answer{}, fmt.Errorf("%s: %s has more than %d pages: %s", s.name, op.Name, most, answer.JSON(op.Body))
}

// lookUp adds what is stored under the keys of a request to its answer.
func (s *subject) lookUp(ctx context.Context, op draw.Op, a *answer.Answer) error {
	tables := draw.Body{}
	for table, keys := range op.Changes {
		tables[table] = draw.Body{"Keys": keys, "ConsistentRead": true}
	}
	stored, err := s.call(ctx, "BatchGetItem", draw.Body{"RequestItems": tables})
	if fields, ok := a.Body.(map[string]any); ok {
		fields["stored"] = stored.Body
	}
	return err
}

// call sends one request. Its signature is well-formed and made up: engines on loopback take any.
func (s *subject) call(ctx context.Context, operation string, body draw.Body) (answer.Answer, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return answer.Answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.server.Addr+"/", bytes.NewReader(payload))
	if err != nil {
		return answer.Answer{}, err
	}
	peer.Sign(request, operation)
	response, err := s.http.Do(request)
	if err != nil {
		return answer.Answer{}, fmt.Errorf("%s: %s: %w", s.name, operation, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return answer.Answer{}, fmt.Errorf("%s: %s: %w", s.name, operation, err)
	}
	a, err := answer.Read(operation, response.StatusCode, text)
	if err != nil {
		return a, fmt.Errorf("%s: %w", s.name, err)
	}
	return a, nil
}

// items reads a whole table.
func (s *subject) items(ctx context.Context, t *draw.Table) ([]any, error) {
	a, err := s.ask(ctx, draw.Op{Name: "Scan", Body: draw.Body{"TableName": t.Name, "ConsistentRead": true}, Pages: true})
	if err != nil {
		return nil, err
	}
	if a.Type != "" {
		return nil, fmt.Errorf("%s: scan %s: %s: %s", s.name, t.Name, a.Type, a.Message)
	}
	fields, _ := a.Body.(map[string]any)
	items, _ := fields["Items"].([]any)
	return items, nil
}

// keep makes a table have just these items.
func (s *subject) keep(ctx context.Context, t *draw.Table, items []any) error {
	has, err := s.items(ctx, t)
	if err != nil {
		return err
	}
	want := map[string]bool{}
	for _, item := range items {
		want[answer.JSON(item)] = true
	}
	var requests []any
	for _, item := range has {
		fields, _ := item.(map[string]any)
		if text := answer.JSON(item); !want[text] {
			requests = append(requests, draw.Body{"DeleteRequest": draw.Body{"Key": t.Key(fields)}})
		} else {
			delete(want, text)
		}
	}
	if err := s.write(ctx, t, requests); err != nil {
		return err
	}
	requests = nil
	for _, item := range items {
		if want[answer.JSON(item)] {
			requests = append(requests, draw.Body{"PutRequest": draw.Body{"Item": item}})
		}
	}
	return s.write(ctx, t, requests)
}

// write sends puts and deletes, all of which must succeed.
func (s *subject) write(ctx context.Context, t *draw.Table, requests []any) error {
	for len(requests) > 0 {
		n := min(25, len(requests))
		a, err := s.call(ctx, "BatchWriteItem", draw.Body{"RequestItems": draw.Body{t.Name: requests[:n]}})
		if err != nil {
			return err
		}
		if a.Type != "" {
			return fmt.Errorf("%s: %s: %s", s.name, a.Type, a.Message)
		}
		requests = requests[n:]
	}
	return nil
}
