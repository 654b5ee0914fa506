package main

import (
	"fmt"
	"strings"
	"time"
)

// Slots are places in a request body that a number is written into before each send. They have a fixed width, so
// that Content-Length and everything around them stay as built.
const (
	slotWidth     = 8
	partitionSlot = "PPPPPPPP"
	sortSlot      = "SSSSSSSS"
)

// collectionSize is the number of items that share a partition key, and what one Query reads.
const collectionSize = 50

// A request is a complete HTTP/1.1 request as it goes over the wire. Nothing is encoded while a server is measured:
// sending another item only overwrites the digits of its key. It belongs to one connection.
type request struct {
	op         string
	wire       []byte
	partitions []int // offsets of the partition slots in wire
	sorts      []int // offsets of the sort slots in wire
}

// newRequest builds the request for one operation of the DynamoDB protocol. The signature is well-formed but made
// up: every engine here accepts any credentials on loopback.
func newRequest(addr, op, body string) *request {
	now := time.Now().UTC()
	var b strings.Builder
	b.WriteString("POST / HTTP/1.1\r\n")
	fmt.Fprintf(&b, "Host: %s\r\n", addr)
	fmt.Fprintf(&b, "Content-Type: application/x-amz-json-1.0\r\n")
	fmt.Fprintf(&b, "X-Amz-Target: DynamoDB_20120810.%s\r\n", op)
	fmt.Fprintf(&b, "X-Amz-Date: %s\r\n", now.Format("20060102T150405Z"))
	fmt.Fprintf(&b, "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/%s/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-target, Signature=%s\r\n",
		now.Format("20060102"), strings.Repeat("0f", 32))
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	head := b.Len()
	b.WriteString(body)
	return &request{
		op:         op,
		wire:       []byte(b.String()),
		partitions: offsets(body, partitionSlot, head),
		sorts:      offsets(body, sortSlot, head),
	}
}

// offsets finds every occurrence of slot in body and moves it by base.
func offsets(body, slot string, base int) []int {
	var found []int
	for at := 0; ; at += slotWidth {
		i := strings.Index(body[at:], slot)
		if i < 0 {
			return found
		}
		at += i
		found = append(found, base+at)
	}
}

// aim makes the request one for the items numbered first, first+1, ...: as many as it has slots for.
func (r *request) aim(first int) {
	for k, at := range r.partitions {
		putDigits(r.wire[at:at+slotWidth], partitionOf(first+k))
	}
	for k, at := range r.sorts {
		putDigits(r.wire[at:at+slotWidth], (first+k)%collectionSize)
	}
}

// partitionOf numbers the partition key of item i. The multiplier has no factor in common with the 10^8 numbers a
// slot can hold, so keys stay distinct but do not arrive in ascending order, which real keys do not do either and
// which would flatter a B-tree.
func partitionOf(i int) int {
	return i / collectionSize * 48271 % 100_000_000
}

func putDigits(to []byte, n int) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + n%10)
		n /= 10
	}
}
