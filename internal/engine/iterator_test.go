package engine

import (
	"encoding/base64"
	"encoding/binary"
	"testing"
	"time"
)

// What is sealed rightly may still be none of ours: it has too few fields, or more.
func TestForgedIterators(t *testing.T) {
	want := iterator{arn: "arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/x", shard: 300, position: 1 << 40, oldest: true, issued: time.UnixMilli(946684800123)}
	if got, ok := parseIterator(want.String()); !ok || got != want {
		t.Fatalf("got %+v, %t", got, ok)
	}
	forge := func(fields []byte) string {
		sealed := binary.BigEndian.AppendUint32(append([]byte(nil), fields...), want.seal(fields))
		return want.arn + iteratorVersion + base64.StdEncoding.EncodeToString(sealed)
	}
	whole, err := base64.StdEncoding.DecodeString(want.String()[len(want.arn+iteratorVersion):])
	if err != nil {
		t.Fatal(err)
	}
	fields := whole[:len(whole)-4]
	if forge(fields) != want.String() {
		t.Fatal("the forger does not seal as the engine does")
	}
	for n := range fields {
		if got, ok := parseIterator(forge(fields[:n])); ok {
			t.Errorf("the first %d bytes: got %+v", n, got)
		}
	}
	if got, ok := parseIterator(forge(append(fields, 1))); ok {
		t.Errorf("a byte more: got %+v", got)
	}
	endless := make([]byte, 11) // no number is so long
	for i := range endless {
		endless[i] = 0xff
	}
	for _, before := range [][]byte{nil, {1}, {1, 1}} {
		if got, ok := parseIterator(forge(append(before, endless...))); ok {
			t.Errorf("%v and an endless number: got %+v", before, got)
		}
	}
	for _, text := range []string{"", want.arn, want.arn + iteratorVersion, want.arn + iteratorVersion + "AAA=", want.arn + iteratorVersion + "?"} {
		if got, ok := parseIterator(text); ok {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}
