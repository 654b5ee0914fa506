package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestRequestIsHTTP(t *testing.T) {
	for _, w := range slices.Concat(compared, grown, []workload{loading}) {
		r := newRequest("127.0.0.1:8000", w.op, w.body)
		r.aim(12345)
		source := bufio.NewReader(bytes.NewReader(r.wire))
		got, err := http.ReadRequest(source)
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if !json.Valid(body) {
			t.Errorf("%s: body is not JSON: %s", w.name, body)
		}
		if source.Buffered() > 0 {
			t.Errorf("%s: %d bytes after the body", w.name, source.Buffered())
		}
		if got.Method != "POST" || got.Host != "127.0.0.1:8000" {
			t.Errorf("%s: got %s to %s", w.name, got.Method, got.Host)
		}
		for name, want := range map[string]string{
			"X-Amz-Target":  "DynamoDB_20120810." + w.op,
			"Content-Type":  "application/x-amz-json-1.0",
			"X-Amz-Date":    got.Header.Get("X-Amz-Date")[:8] + "T",
			"Authorization": "AWS4-HMAC-SHA256 Credential=",
		} {
			if !strings.HasPrefix(got.Header.Get(name), want) {
				t.Errorf("%s: header %s: got %q, want %q", w.name, name, got.Header.Get(name), want)
			}
		}
	}
}

// itemsOf decodes the keys a request writes.
func itemsOf(t *testing.T, r *request) []string {
	t.Helper()
	type stored struct{ PK, SK struct{ S string } }
	var body struct {
		Item         *stored
		RequestItems map[string][]struct{ PutRequest struct{ Item stored } }
	}
	_, text, _ := bytes.Cut(r.wire, []byte("\r\n\r\n"))
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	var keys []string
	if body.Item != nil {
		keys = append(keys, body.Item.PK.S+"/"+body.Item.SK.S)
	}
	for _, put := range body.RequestItems["bench"] {
		keys = append(keys, put.PutRequest.Item.PK.S+"/"+put.PutRequest.Item.SK.S)
	}
	return keys
}

func TestWritesNeverMeet(t *testing.T) {
	const requests = 300
	seen := map[string]bool{}
	for _, w := range []workload{put, batch, loading} {
		r := newRequest("localhost", w.op, w.body)
		for n := range requests {
			r.aim(w.index(n, comparedItems))
			keys := itemsOf(t, r)
			if len(keys) != w.items {
				t.Fatalf("%s: got %d items, want %d", w.name, len(keys), w.items)
			}
			for _, key := range keys {
				if seen[key] {
					t.Fatalf("%s: key %s written twice", w.name, key)
				}
				seen[key] = true
			}
		}
	}
}

// What is read must have been loaded, whole collections of it.
func TestLoadingCoversVisits(t *testing.T) {
	loaded := map[string]bool{}
	collections := map[string]int{}
	r := newRequest("localhost", loading.op, loading.body)
	for n := range comparedItems / batchSize {
		r.aim(loading.index(n, comparedItems))
		for _, key := range itemsOf(t, r) {
			loaded[key] = true
			pk, _, _ := strings.Cut(key, "/")
			collections[pk]++
		}
	}
	for pk, size := range collections {
		if size != collectionSize {
			t.Errorf("collection %s has %d items, want %d", pk, size, collectionSize)
		}
	}
	visited := map[string]bool{}
	visit := newRequest("localhost", replace.op, replace.body)
	for n := range comparedItems {
		visit.aim(replace.index(n, comparedItems))
		key := itemsOf(t, visit)[0]
		if !loaded[key] {
			t.Fatalf("visits %s, which is not loaded", key)
		}
		visited[key] = true
	}
	if len(visited) != comparedItems {
		t.Errorf("%d visits reach %d items, want every item once", comparedItems, len(visited))
	}
}

func TestPartitionsStayDistinct(t *testing.T) {
	seen := make(map[int]bool)
	for i := 0; i < 1_000_000; i += collectionSize {
		p := partitionOf(i)
		if p < 0 || p >= 100_000_000 || seen[p] {
			t.Fatalf("item %d: partition %d is out of range or taken", i, p)
		}
		seen[p] = true
	}
}

func TestItemSize(t *testing.T) {
	var attributes map[string]map[string]any
	if err := json.Unmarshal([]byte(item("load")), &attributes); err != nil {
		t.Fatal(err)
	}
	// As DynamoDB counts: names, UTF-8 strings, half a byte per digit and one more for numbers, one for a bool.
	size := 0
	for name, value := range attributes {
		size += len(name)
		for kind, v := range value {
			switch kind {
			case "S":
				size += len(v.(string))
			case "N":
				size += (len(strings.ReplaceAll(v.(string), ".", ""))+1)/2 + 1
			case "BOOL":
				size++
			}
		}
	}
	if size < 190 || size > 210 {
		t.Errorf("item has %d bytes, want about 200", size)
	}
}

func BenchmarkAim(b *testing.B) {
	r := newRequest("localhost", batch.op, batch.body)
	n := 0
	for b.Loop() {
		r.aim(n)
		n += batchSize
	}
}
