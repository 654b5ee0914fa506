package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/engine"
)

const serialization = `{"__type":"com.amazon.coral.service#SerializationException"`

// getStub answers GetItem with a small item.
func getStub(t testing.TB, opts Options) (*stub[engine.GetItemInput, *engine.GetItemOutput], *Handler) {
	s := &stub[engine.GetItemInput, *engine.GetItemOutput]{out: &engine.GetItemOutput{Item: raw(t, `{"pk":{"S":"é"}}`)}}
	return s, s.serve(dynamoDB+"GetItem", (*request).getItem, (*answer).getItem, opts)
}

func TestAnswer(t *testing.T) {
	s, h := getStub(t, Options{Unsigned: true})
	w := do(h, post(dynamoDB+"GetItem", `{"TableName":"t"}`))
	body := `{"Item":{"pk":{"S":"é"}}}`
	if w.Code != http.StatusOK || w.Body.String() != body {
		t.Fatalf("got %d %s, want 200 %s", w.Code, w.Body, body)
	}
	same(t, s.in.TableName, new("t"))
	for name, want := range map[string]string{
		"Content-Type":   "application/x-amz-json-1.0",
		"Content-Length": strconv.Itoa(len(body)),
		"Server":         "Server",
		"X-Amz-Crc32":    strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10),
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	id := w.Header().Get("x-amzn-RequestId")
	if !regexp.MustCompile(`^[A-Z0-9]{52}$`).MatchString(id) {
		t.Errorf("request id %q", id)
	}
	if again := do(h, post(dynamoDB+"GetItem", `{}`)).Header().Get("x-amzn-RequestId"); again == id {
		t.Error("the same request id twice")
	}
}

func TestContentTypes(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	for given, want := range map[string]string{
		"application/x-amz-json-1.0":              "application/x-amz-json-1.0",
		"Application/X-Amz-JSON-1.0; charset=utf": "application/x-amz-json-1.0",
		"application/json":                        "application/json",
		" application/json ; charset=utf-8":       "application/json",
		"application/x-amz-json-1.1":              "",
		"text/plain":                              "",
		"":                                        "",
	} {
		r := post(dynamoDB+"GetItem", `{}`)
		r.Header.Set("Content-Type", given)
		if given == "" {
			r.Header.Del("Content-Type")
		}
		w := do(h, r)
		if want == "" {
			if w.Code != http.StatusNotFound || w.Body.String() != "<UnknownOperationException/>\n" {
				t.Errorf("%q: got %d %s", given, w.Code, w.Body)
			}
		} else if got := w.Header().Get("Content-Type"); got != want || w.Code != http.StatusOK {
			t.Errorf("%q: got %d %q, want %q", given, w.Code, got, want)
		}
	}
}

func TestOtherRequests(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true, Region: "eu-west-1"})
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{http.MethodGet, "/", 200, "healthy: dynamodb.eu-west-1.amazonaws.com "},
		{http.MethodGet, "/x", 404, "<UnknownOperationException/>\n"},
		{http.MethodPut, "/", 404, "<UnknownOperationException/>\n"},
		{http.MethodPost, "/x", 404, "<UnknownOperationException/>\n"},
	} {
		r := post(dynamoDB+"GetItem", `{}`)
		r.Method, r.URL.Path = c.method, c.path
		if w := do(h, r); w.Code != c.status || w.Body.String() != c.body || w.Header().Get("X-Amz-Crc32") == "" {
			t.Errorf("%s %s: got %d %s, want %d %s", c.method, c.path, w.Code, w.Body, c.status, c.body)
		}
	}
}

func TestTargets(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	const unknown = `{"__type":"com.amazon.coral.service#UnknownOperationException"`
	for target, want := range map[string]string{
		"":                      unknown + `}`,
		"GetItem":               unknown + `}`,
		dynamoDB + "GetItems":   unknown + `}`,
		streams + "GetItem":     unknown + `}`,
		dynamoDB + "GetRecords": unknown + `}`,
		dynamoDB + "ListGlobalTables": unknown +
			`,"message":"heatsink does not implement the operation ListGlobalTables: it is one region, and has no global tables; see https://github.com/heatsink-go/heatsink/blob/main/docs/compatibility.md"}`,
	} {
		if w := do(h, post(target, `{}`)); w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%s: got %d %s, want 400 %s", target, w.Code, w.Body, want)
		}
	}
}

func TestDescribeEndpoints(t *testing.T) {
	r := post(dynamoDB+"DescribeEndpoints", `{}`)
	r.Host = "localhost:8000"
	want := `{"Endpoints":[{"Address":"localhost:8000","CachePeriodInMinutes":1440}]}`
	if w := do(NewHandler(nil, Options{Unsigned: true}), r); w.Body.String() != want {
		t.Errorf("got %s, want %s", w.Body, want)
	}
}

func TestSerializationErrors(t *testing.T) {
	const (
		value = "com.amazonaws.dynamodb.v20120810.AttributeValue"
		cast  = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class " +
			"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"
	)
	h := NewHandler(nil, Options{Unsigned: true})
	for _, c := range []struct{ op, body, want string }{
		{"GetItem", ``, ""},
		{"GetItem", `{`, ""},
		{"GetItem", `{"TableName":"t"}}`, ""},
		{"GetItem", `{"TableName":"t",}`, ""},
		{"GetItem", `{"TableName":5`, ""},
		{"GetItem", "{\"TableName\":\"\xff\"}", ""},
		{"GetItem", `{"Key":` + strings.Repeat("[", 100_000), ""},
		{"GetItem", strings.Repeat(`{"Key":`, 1000) + strings.Repeat(`}`, 1000), ""},
		{"PutItem", `{"Item":{"a":` + strings.Repeat(`{"M":{"a":`, 1000) + `{"S":""}` + strings.Repeat(`}}`, 1000) + `}}`, ""},

		{"GetItem", `{"TableName":5}`, "NUMBER_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":5.5}`, "DECIMAL_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":1e3}`, "DECIMAL_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":true}`, "TRUE_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":false}`, "FALSE_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":{}}`, "Start of structure or map found where not expected"},
		{"GetItem", `{"TableName":[]}`, "Unrecognized collection type class java.lang.String"},
		{"GetItem", `{"ConsistentRead":"maybe"}`, "Unexpected token received from parser"},
		{"GetItem", `{"ConsistentRead":1}`, "NUMBER_VALUE cannot be converted to Boolean"},
		{"Scan", `{"Limit":"5"}`, "STRING_VALUE cannot be converted to Integer"},
		{"Scan", `{"Limit":false,"TableName":5}`, "FALSE_VALUE cannot be converted to Integer"},
		{"UpdateTable", `{"ProvisionedThroughput":{"ReadCapacityUnits":"5"}}`, "STRING_VALUE cannot be converted to Long"},
		{"UpdateTable", `{"ProvisionedThroughput":"a"}`, "Unexpected field type"},
		{"UpdateTable", `{"ProvisionedThroughput":[]}`, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput"},
		{"UpdateTable", `{"GlobalSecondaryIndexUpdates":["a"]}`, "Unexpected value type in payload"},
		{"UpdateTable", `{"GlobalSecondaryIndexUpdates":{}}`, "Start of structure or map found where not expected"},
		{"UpdateTable", `{"GlobalSecondaryIndexUpdates":5}`, "Unexpected field type"},
		{"CreateTable", `{"KeySchema":[[]]}`, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement"},
		{"Scan", `{"ExpressionAttributeNames":5}`, "Unexpected field type"},
		{"Scan", `{"ExpressionAttributeNames":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"},
		{"PutItem", `{"Item":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, " + value + ">"},
		{"PutItem", `{"Item":"a"}`, "Unexpected field type"},
		{"PutItem", `{"Item":{"a":5}}`, "Unexpected value type in payload"},
		{"PutItem", `{"Item":{"a":[]}}`, "Unrecognized collection type class " + value},
		{"PutItem", `{"Item":{"a":{"B":5}}}`, "only base-64-encoded strings are convertible to bytes"},
		{"PutItem", `{"Item":{"a":{"B":[]}}}`, "Unrecognized collection type class java.nio.ByteBuffer"},
		{"PutItem", `{"Item":{"a":{"B":"23456"}}}`, "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
		{"PutItem", `{"Item":{"a":{"SS":5}}}`, "Unexpected field type"},
		{"BatchWriteItem", `{"RequestItems":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>"},
		{"BatchWriteItem", `{"RequestItems":{"t":5}}`, cast},
		{"BatchGetItem", `{"RequestItems":{"t":{"Keys":[5]}}}`, cast},
		{"BatchGetItem", `{"RequestItems":{"t":{"Keys":[[]]}}}`, "Unrecognized collection type java.util.Map<java.lang.String, " + value + ">"},
		{"BatchGetItem", `{"RequestItems":{"t":5}}`, "Unexpected value type in payload"},
	} {
		want := serialization + `}`
		if c.want != "" {
			want = serialization + `,"Message":"` + c.want + `"}`
		}
		if w := do(h, post(dynamoDB+c.op, c.body)); w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%s %.80s:\ngot  %d %s\nwant 400 %s", c.op, c.body, w.Code, w.Body, want)
		}
	}
}

// endless is a body that goes on until somebody stops reading.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestOversizedBodies(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	const want = `{"__type":"com.amazon.coral.service#RequestEntityTooLargeException","message":"Request size exceeded 16 MB"}`
	for _, length := range []int64{-1, maxBody + 1, 1 << 60} {
		body := &endless{}
		r := post(dynamoDB+"GetItem", "")
		r.Body, r.ContentLength = io.NopCloser(body), length
		w := do(h, r)
		if w.Code != http.StatusRequestEntityTooLarge || w.Body.String() != want || w.Header().Get("Connection") != "close" {
			t.Errorf("length %d: got %d %s", length, w.Code, w.Body)
		}
		if length > 0 && body.read > 0 || body.read > 2*maxBody {
			t.Errorf("length %d: %d bytes were read", length, body.read)
		}
	}
	r := post(dynamoDB+"GetItem", strings.Repeat(" ", maxBody-2)+"{}")
	if w := do(h, r); w.Code != http.StatusOK {
		t.Errorf("%d bytes: got %d %s", maxBody, w.Code, w.Body)
	}
}

func TestBodyThatBreaksOff(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	r := post(dynamoDB+"GetItem", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"TableName":`), errReader{}))
	r.ContentLength = 50
	if w := do(h, r); w.Code != http.StatusBadRequest || w.Body.String() != serialization+`}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("gone") }

func TestErrors(t *testing.T) {
	old := raw(t, `{"pk":{"S":"a"}}`)
	for _, c := range []struct {
		name   string
		err    error
		status int
		want   string
	}{
		{
			"validation", &engine.Error{Type: engine.TypeValidation, Message: `a "quoted" word`}, 400,
			`{"__type":"com.amazon.coral.validate#ValidationException","message":"a \"quoted\" word"}`,
		},
		{
			"not found", fmt.Errorf("wrapped: %w", &engine.Error{Type: engine.TypeResourceNotFound, Message: "m"}), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"m"}`,
		},
		{
			"condition", &engine.Error{Type: engine.TypeConditionalCheckFailed, Message: "m", Item: old}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"m","Item":{"pk":{"S":"a"}}}`,
		},
		{
			"transaction", &engine.Error{Type: engine.TypeTransactionCanceled, Message: "m", Reasons: []engine.CancellationReason{
				{Code: "None"}, {Code: "ConditionalCheckFailed", Message: "c", Item: old},
			}}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"m","CancellationReasons":[` +
				`{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"c","Item":{"pk":{"S":"a"}}}]}`,
		},
		{
			"token of another transaction", &engine.Error{Type: engine.TypeIdempotentMismatch, Message: "m"}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException","Message":"m"}`,
		},
		{
			"token of a running transaction", &engine.Error{Type: engine.TypeTransactionInProgress, Message: "m"}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException","Message":"m"}`,
		},
		{
			"no text", &engine.Error{Type: engine.TypeValidation, Message: "\xff"}, 400,
			`{"__type":"com.amazon.coral.validate#ValidationException","message":"` + "\ufffd" + `"}`,
		},
		{
			"internal", &engine.Error{Type: engine.TypeInternal, Message: "m"}, 500,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"m"}`,
		},
		{
			"unavailable", fmt.Errorf("wrapped: %w", &engine.Error{Type: engine.TypeUnavailable, Message: "m"}), 503,
			`{"__type":"com.amazon.coral.service#ServiceUnavailable","message":"m"}`,
		},
		{"anything else", errors.New("disk on fire"), 500, internalAnswer},
		{"damaged item", &engine.Error{Type: engine.TypeConditionalCheckFailed, Item: old[:3]}, 500, internalAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, h := getStub(t, Options{Unsigned: true})
			s.err = c.err
			if w := do(h, post(dynamoDB+"GetItem", `{}`)); w.Code != c.status || w.Body.String() != c.want {
				t.Errorf("got  %d %s\nwant %d %s", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}

const internalAnswer = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",` +
	`"message":"The request processing has failed because of an unknown error, exception or failure."}`

func TestLongMessagesAreCut(t *testing.T) {
	s, h := getStub(t, Options{Unsigned: true})
	for _, word := range []string{"a", "é", "世", "😀", "\xff"} {
		for skip := range 4 {
			long := strings.Repeat("x", skip) + strings.Repeat(word, 1<<20)
			s.err = &engine.Error{
				Type: engine.TypeTransactionCanceled, Message: long,
				Reasons: []engine.CancellationReason{{Code: "ValidationError", Message: long}},
			}
			var got struct {
				Message             string
				CancellationReasons []struct{ Message string }
			}
			body := do(h, post(dynamoDB+"GetItem", `{}`)).Body
			if err := json.Unmarshal(body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{got.Message, got.CancellationReasons[0].Message} {
				start, whole := strings.CutSuffix(text, "...")
				if len(start) > maxMessage || len(start) < maxMessage-utf8.UTFMax && word != "\xff" || !whole ||
					word != "\xff" && !strings.HasPrefix(long, start) {
					t.Errorf("%d and %q: got %d bytes, …%s", skip, word, len(text), text[len(text)-10:])
				}
			}
		}
	}
	s.err = &engine.Error{Type: engine.TypeValidation, Message: strings.Repeat("x", maxMessage)}
	if body := do(h, post(dynamoDB+"GetItem", `{}`)).Body.String(); !strings.Contains(body, strings.Repeat("x", maxMessage)+`"`) {
		t.Errorf("a message of %d bytes was cut", maxMessage)
	}
}

func TestTrouble(t *testing.T) {
	var log bytes.Buffer
	_, h := getStub(t, Options{Unsigned: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	answer := func(f func() (*engine.GetItemOutput, error)) *httptest.ResponseRecorder {
		log.Reset()
		h.operations[dynamoDB+"GetItem"] = op((*request).getItem,
			func(*engine.Engine, context.Context, *engine.GetItemInput) (*engine.GetItemOutput, error) { return f() }, (*answer).getItem)
		return do(h, post(dynamoDB+"GetItem", `{}`))
	}
	for name, f := range map[string]func() (*engine.GetItemOutput, error){
		"panic":        func() (*engine.GetItemOutput, error) { panic("oh no") },
		"nil answer":   func() (*engine.GetItemOutput, error) { return nil, nil },
		"damaged item": func() (*engine.GetItemOutput, error) { return &engine.GetItemOutput{Item: []byte{9, 9}}, nil },
		"error":        func() (*engine.GetItemOutput, error) { return nil, errors.New("oh no") },
	} {
		if w := answer(f); w.Code != http.StatusInternalServerError || w.Body.String() != internalAnswer || log.Len() == 0 {
			t.Errorf("%s: got %d %s, logged %s", name, w.Code, w.Body, log.String())
		}
	}
	answer(func() (*engine.GetItemOutput, error) { panic("oh no") })
	if text := log.String(); !strings.Contains(text, "oh no") || !strings.Contains(text, "handler_test.go") {
		t.Errorf("the stack is not in the log: %s", text)
	}
	answer(func() (*engine.GetItemOutput, error) { return nil, context.Canceled })
	if log.Len() > 0 {
		t.Errorf("a client that went away was logged: %s", log.String())
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("got %v, want the server's own panic to pass", p)
		}
	}()
	answer(func() (*engine.GetItemOutput, error) { panic(http.ErrAbortHandler) })
}

// The head of a request has 16 KB at most, as on the service.
func TestLongHeads(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	for _, c := range []struct {
		path, header string
		want         int
	}{
		{"/", strings.Repeat("x", 15<<10), http.StatusOK},
		{"/", strings.Repeat("x", 16<<10), http.StatusBadRequest},
		{"/" + strings.Repeat("x", 15<<10), "", http.StatusNotFound},
		{"/" + strings.Repeat("x", 17<<10), "", http.StatusBadRequest},
	} {
		r := post(dynamoDB+"GetItem", `{"TableName":"t"}`)
		r.URL.Path, r.RequestURI = c.path, c.path
		r.Header.Set("X-Padding", c.header)
		if w := do(h, r); w.Code != c.want {
			t.Errorf("a path of %d bytes and a header of %d: got %d, want %d", len(c.path), len(c.header), w.Code, c.want)
		}
	}
}

func FuzzRequests(f *testing.F) {
	for i, body := range []string{
		`{"TableName":"t","Item":{"a":{"SS":["b","b"]}},"ExpressionAttributeValues":{":a":{}}}`,
		`{"RequestItems":{"t":[{"PutRequest":{"Item":{"a":{"N":"1"}}}}]}}`, `{"TransactItems":[{"Put":{}},{"Get":null}]}`,
		`{"KeySchema":[{"AttributeName":"a"}],"GlobalSecondaryIndexes":[{}]}`,
	} {
		f.Add(uint8(i), body)
	}
	var r request
	f.Fuzz(func(t *testing.T, n uint8, body string) {
		switch r.reset(body); n % 8 {
		case 0:
			r.putItem(&engine.PutItemInput{})
		case 1:
			r.batchWriteItem(&engine.BatchWriteItemInput{})
		case 2:
			r.transactWriteItems(&engine.TransactWriteItemsInput{})
		case 3:
			r.createTable(&engine.CreateTableInput{})
		case 4:
			r.updateTable(&engine.UpdateTableInput{})
		case 5:
			r.query(&engine.ReadInput{})
		case 6:
			r.batchGetItem(&engine.BatchGetItemInput{})
		case 7:
			r.getShardIterator(&engine.GetShardIteratorInput{})
		}
		_ = r.end()
	})
}
