package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/smithy-go/encoding/cbor"
)

// attacks are requests of a megabyte that cost far more to decode.
func attacks() map[string][]byte {
	fill := func(start, member string) []byte {
		return append([]byte(start), bytes.Repeat([]byte(member), (maxCBORBytes-len(start))/len(member))...)
	}
	return map[string][]byte{
		"a long list of nothing":   fill("\x9a\x00\x0f\xff\x00", "\xf6"),
		"a long list of maps":      fill("\x9a\x00\x0f\xff\x00", "\xa0"),
		"a list without a length":  fill("\x9f", "\xa0"),
		"small maps":               fill("\x9f", "\xa1\x61a\xa0"),
		"deep lists":               fill("", "\x81"),
		"deep lists in a list":     fill("\x9f", strings.Repeat("\x81", 100)+"\xa0"),
		"deep tags":                fill("", "\xc1"),
		"a string in empty pieces": fill("\x7f", "\x60"),
	}
}

func TestCheckCBOR(t *testing.T) {
	for name, encoded := range attacks() {
		if err := checkCBOR(encoded); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for encoded, want := range map[string]string{
		"\xa0":                                     "",
		"\xa1\x61a\x9f\x01\x20\x41x\xff":           "",
		"\xbf\x61a\xf9\x00\x00\xff":                "",
		"\xc1\xfb\x00\x00\x00\x00\x00\x00\x00\x00": "",
		"\x7f\x61a\x61b\xff":                       "",
		"":                                         "the data ends too early",
		"\xa1":                                     "the data ends too early",
		"\xa1\x61a":                                "the data ends too early",
		"\x9f":                                     "the data ends too early",
		"\x7f\x61a":                                "the data ends too early",
		"\x1b\x00":                                 "the data ends too early",
		"\x62a":                                    "the data ends too early",
		"\x7b\xff\xff\xff\xff\xff\xff\xff\xff":     "the data ends too early",
		"\x9b\xff\xff\xff\xff\xff\xff\xff\xff":     "the data ends too early",
		"\xbb\x80\x00\x00\x00\x00\x00\x00\x00":     "the data ends too early",
		"\xa0\xa0":                                 "1 bytes after its end",
		"\xa1\x01\x01":                             "not a string",
		"\x7f\x41a\xff":                            "a part of a string is not a string",
		"\x7f\x7f\xff\xff":                         "a part of a string is not a string",
		"\xff":                                     "no value begins with byte 0xff",
		"\x1f":                                     "no value begins with byte 0x1f",
		"\xdf":                                     "no value begins with byte 0xdf",
		"\xfc":                                     "no value begins with byte 0xfc",
		strings.Repeat("\x81", maxCBORDepth) + "\x01":             "",
		strings.Repeat("\x81", maxCBORDepth+1) + "\x01":           "more than 16 deep",
		"\x9f" + strings.Repeat("\x00", maxCBORValues-1) + "\xff": "",
		"\x9f" + strings.Repeat("\x00", maxCBORValues) + "\xff":   "more than 100000 values",
	} {
		switch err := checkCBOR([]byte(encoded)); {
		case want == "" && err != nil:
			t.Errorf("%.20x: %v", encoded, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.20x: got %v, want %q", encoded, err, want)
		}
	}
}

// What passes has, once decoded, no more in it than counted; what is decoded and small passes.
func FuzzCBOR(f *testing.F) {
	for _, encoded := range []string{
		"\xa1\x61a\x9f\x01\x20\x41x\xff", "\xbf\x7f\x61a\xff\xf9\x00\x00\xff", "\xc1\xfb\x00\x00\x00\x00\x00\x00\x00\x00", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\xff",
	} {
		f.Add([]byte(encoded))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		checked := checkCBOR(encoded)
		if checked != nil && len(encoded) > 1<<10 {
			return // it may be too much to be decoded
		}
		decoded, err := cbor.Decode(encoded)
		if err != nil {
			return
		}
		if checked == nil {
			if values, depth := measure(decoded); values > maxCBORValues || depth > maxCBORDepth+1 {
				t.Errorf("%x: %d values, %d deep", encoded, values, depth)
			}
		}
		if _, depth := measure(decoded); depth <= maxCBORDepth {
			if err := checkCBOR(cbor.Encode(decoded)); err != nil {
				t.Errorf("%x decodes, but %v", encoded, err)
			}
		}
	})
}

// measure counts values and how deep they are.
func measure(v cbor.Value) (values, depth int) {
	values, depth = 1, 1
	inner := func(v cbor.Value) {
		n, d := measure(v)
		values, depth = values+n, max(depth, d+1)
	}
	switch v := v.(type) {
	case cbor.List:
		for _, member := range v {
			inner(member)
		}
	case cbor.Map:
		for _, member := range v {
			values++
			inner(member)
		}
	case *cbor.Tag:
		inner(v.Value)
	}
	return values, depth
}
