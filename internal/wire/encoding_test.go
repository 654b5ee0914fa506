package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// zip compresses a text by gzip.
func zip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What Accept-Encoding leads to, as measured on DynamoDB.
func TestAccept(t *testing.T) {
	for header, want := range map[string]string{
		"gzip":                            "gzip",
		"deflate":                         "deflate",
		"GZIP, identity":                  "gzip",
		"gzip, deflate":                   "gzip",
		"br, identity, deflate, gzip":     "deflate",
		"dog, gzip ,, cat":                "gzip",
		"gzip;q=0.8, deflate;q=0.5":       "gzip",
		"gzip;q=0.2, deflate;q=0.5":       "deflate",
		"gzip;q=0, deflate; q = 0.5 ":     "deflate",
		"gzip;q=31,deflate;q=51":          "gzip",
		"deflate;q=0.5, gzip;q=1;q=0.2":   "gzip",
		"deflate;q=0.5,gzip;q=0.":         "deflate",
		"deflate;q=0.5,gzip;q=0.x":        "gzip",
		"deflate;q=-0.5,gzip;q=0.2":       "gzip",
		"gzip;q=0, gzip;q=1, gzip;q=0":    "gzip",
		"br,identity;q=0.5,gzip;q=0.0001": "gzip",
		"gzip;q=0.5,identity;q=0.8":       "gzip",
		"*":                               "gzip",
		"*, deflate;q=0.5":                "gzip",
		"*, deflate":                      "deflate",
		"*, gzip;q=0.5":                   "deflate",
		"*;q=0.5,identity":                "gzip",
		"gzip;q=NaN":                      "gzip",
		"gzip;q =0;q=1":                   "gzip",
		"gzip; q=0;q=1":                   "",
		"gzip ;q=0":                       "",
		"gzip;nq=0;q=1":                   "",
		"*;q=0":                           "",
		"br;q=0.8,identity;q=0.5,*;q=0":   "",
		"":                                "",
		"identity":                        "",
		"identity;q=0":                    "",
		"br":                              "",
		"x-gzip":                          "",
		`"gzip"`:                          "",
		"gzip br":                         "",
		"gzip:q=1":                        "",
	} {
		got := ""
		if e := accept(header); e != nil {
			got = e.name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

// An answer from 4 KB on is compressed for who asks, on both lanes, and the
// checksum is that of the compressed bytes.
func TestCompressedAnswers(t *testing.T) {
	s := &stub[engine.GetItemInput, *engine.GetItemOutput]{}
	h := s.serve(dynamoDB+"GetItem", (*request).getItem, (*answer).getItem, Options{Unsigned: true})
	const around = len(`{"Item":{"a":{"S":""}}}`)
	lanes := map[string]func(*http.Request) *http.Response{
		"handler": func(r *http.Request) *http.Response { return do(h, r).Result() },
		"first":   overPort(t, h, false),
		"second":  overPort(t, h, true),
	}
	for _, c := range []struct {
		length  int
		accept  []string
		encoded string
	}{
		{minEncoded, nil, ""},
		{minEncoded, []string{"identity"}, ""},
		{minEncoded - 1, []string{"gzip"}, ""},
		{minEncoded, []string{"gzip"}, "gzip"},
		{minEncoded, []string{"deflate"}, "deflate"},
		{minEncoded, []string{"gzip", "identity"}, "gzip"},
		{minEncoded, []string{"identity", "gzip"}, ""},
		{300 << 10, []string{"gzip"}, "gzip"},
	} {
		s.out = &engine.GetItemOutput{Item: raw(t, `{"a":{"S":"`+strings.Repeat("x", c.length-around)+`"}}`)}
		for lane, send := range lanes {
			r := post(dynamoDB+"GetItem", `{"TableName":"t"}`)
			r.Header["Accept-Encoding"] = c.accept
			res := send(r)
			sent, err := io.ReadAll(res.Body)
			if err = errors.Join(err, res.Body.Close()); err != nil {
				t.Fatal(err)
			}
			if got := res.Header.Get("Content-Encoding"); got != c.encoded || res.StatusCode != http.StatusOK {
				t.Errorf("%s, %d bytes, %q: got %d %q, want %q", lane, c.length, c.accept, res.StatusCode, got, c.encoded)
			}
			if got, want := res.Header.Get("X-Amz-Crc32"), strconv.FormatUint(uint64(crc32.ChecksumIEEE(sent)), 10); got != want || res.ContentLength != int64(len(sent)) {
				t.Errorf("%s, %d bytes, %q: got checksum %s and length %d, want %s and %d", lane, c.length, c.accept, got, res.ContentLength, want, len(sent))
			}
			if got := plain(t, c.encoded, sent); len(got) != c.length || !strings.HasPrefix(got, `{"Item":{"a":{"S":"xx`) {
				t.Errorf("%s, %d bytes, %q: got %.30q of %d bytes", lane, c.length, c.accept, got, len(got))
			}
		}
	}
}

// overPort sends requests to a server, on either lane.
func overPort(t *testing.T, h *Handler, second bool) func(*http.Request) *http.Response {
	t.Helper()
	addr := listen(t, NewServer(h, h))
	return func(r *http.Request) *http.Response {
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", addr
		if r.Header["Accept-Encoding"] == nil {
			r.Header.Set("Accept-Encoding", "identity") // Go's client would ask for gzip
		}
		if second {
			r.Header.Set("Pragma", "x")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
}

// plain returns an answer as it was before it was compressed.
func plain(t *testing.T, encoded string, sent []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(sent)
	var err error
	switch encoded {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "deflate":
		r, err = zlib.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A body that is compressed is read, and its signature is that of the
// compressed bytes.
func TestCompressedRequests(t *testing.T) {
	const body = `{"TableName":"t"}`
	whole := zip(t, body)
	deflated := string(encodings[1].encode([]byte(body)))
	spaces := body[:1] + strings.Repeat(" ", maxBody) + body[1:]
	for name, c := range map[string]struct {
		encoding, body string
		want           string // of the error; empty: none
	}{
		"gzip":        {"gzip", whole, ""},
		"capitals":    {"GZIP", whole, ""},
		"two members": {"gzip", zip(t, body[:5]) + zip(t, body[5:]), ""},
		"large":       {"gzip", zip(t, body[:1]+strings.Repeat(" ", 1<<20)+body[1:]), ""},
		"identity":    {"identity", body, ""},
		"deflate":     {"deflate", deflated, ""},
		"not deflate": {"deflate", body, `SerializationException","Message":"The body is not what its Content-Encoding says: zlib: invalid header`},
		"not gzip":    {"gzip", body, `SerializationException","Message":"The body is not what its Content-Encoding says: gzip: invalid header`},
		"cut off":     {"gzip", whole[:len(whole)-1], `SerializationException","Message":"The body is not what its Content-Encoding says: unexpected EOF`},
		"more":        {"gzip", whole + "more", `SerializationException","Message":"The body is not what its Content-Encoding says`},
		"nothing":     {"gzip", zip(t, ""), `SerializationException"`},
		"brotli":      {"br", body, `SerializationException","Message":"The Content-Encoding \"br\" is not supported: send the body as it is, or compressed by gzip or deflate`},
		"twice":       {"gzip, gzip", zip(t, whole), `SerializationException","Message":"The Content-Encoding \"gzip, gzip\" is not supported`},
		"too large":   {"gzip", zip(t, spaces), `RequestEntityTooLargeException`},
	} {
		t.Run(name, func(t *testing.T) {
			s, h := getStub(t, Options{Credentials: &Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret}})
			r := post(dynamoDB+"GetItem", c.body)
			r.Header.Set("Content-Encoding", c.encoding)
			hash := sha256.Sum256([]byte(c.body))
			by := aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret}
			if err := v4.NewSigner().SignHTTP(t.Context(), by, r, hex.EncodeToString(hash[:]), "dynamodb", "eu-central-1", time.Now()); err != nil {
				t.Fatal(err)
			}
			w := do(h, r)
			switch {
			case c.want != "" && (w.Code == http.StatusOK || !strings.Contains(w.Body.String(), c.want)):
				t.Errorf("got %d %s, want %s", w.Code, w.Body, c.want)
			case c.want == "" && (w.Code != http.StatusOK || *s.in.TableName != "t"):
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

// A body takes room for what it is unzipped to, before it is.
func TestRoomForUnzipped(t *testing.T) {
	s := NewServer(NewHandler(nil, Options{}), nil)
	x := &exchange{link: newLink(s, &timed{}), body: []byte(zip(t, strings.Repeat("x", 1<<20)))}
	r := post(dynamoDB+"PutItem", "")
	r.Header.Set("Content-Encoding", "gzip")
	if err := x.begin(r); err != nil || len(x.body) != 1<<20 {
		t.Fatalf("got %d bytes, %v", len(x.body), err)
	}
	if got, want := s.used(), (bodyWork+1)<<20; got != want {
		t.Errorf("takes %d bytes, want %d", got, want)
	}
}

// The SDK that asks for compressed answers reads them.
func TestSDKReadsCompressedAnswers(t *testing.T) {
	value := strings.Repeat("x", 1<<20)
	s := &stub[engine.GetItemInput, *engine.GetItemOutput]{out: &engine.GetItemOutput{Item: raw(t, `{"a":{"S":"`+value+`"}}`)}}
	h := s.serve(dynamoDB+"GetItem", (*request).getItem, (*answer).getItem, Options{})
	out, err := sdk(h).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: map[string]types.AttributeValue{}},
		func(o *dynamodb.Options) { o.EnableAcceptEncodingGzip = true })
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Item["a"].(*types.AttributeValueMemberS).Value; got != value {
		t.Errorf("got %.20q of %d bytes", got, len(got))
	}
}
