package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// metricProtocol is one of the three ways in which SDKs speak to CloudWatch. Whichever it is, requests and answers are maps as CBOR has them.
type metricProtocol interface {
	// read returns the operation of a request and its input.
	read(r *http.Request, body []byte) (operation string, in cbor.Map, err error)
	write(w http.ResponseWriter, operation string, out cbor.Map)
	refuse(w http.ResponseWriter, status int, err *cloudWatchError)
}

// cloudWatchTarget begins the X-Amz-Target of requests in JSON.
const cloudWatchTarget = "GraniteServiceVersion20100801."

// IsCloudWatch reports whether a request is for CloudWatch. SDKs that speak CBOR have a path for it. Others send JSON or forms to the
// path that DynamoDB has as well.
func IsCloudWatch(r *http.Request) bool {
	_, is := metricProtocolOf(r)
	return is
}

func metricProtocolOf(r *http.Request) (metricProtocol, bool) {
	switch {
	case strings.HasPrefix(r.URL.Path, CloudWatchPath):
		return cborProtocol{}, true
	case r.Method != http.MethodPost || !isRoot(r):
		return nil, false
	case strings.HasPrefix(targetOf(r), cloudWatchTarget):
		return jsonProtocol{}, true
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return formProtocol{}, strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded")
}

// Services answers CloudWatch's requests by one handler and all others by another.
func Services(tables, metrics http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if IsCloudWatch(r) {
			metrics.ServeHTTP(w, r)
			return
		}
		tables.ServeHTTP(w, r)
	})
}

// cborProtocol is Smithy's RPC v2 with CBOR, which SDKs speak since 2025.
type cborProtocol struct{}

func (cborProtocol) read(r *http.Request, body []byte) (string, cbor.Map, error) {
	if r.Method != http.MethodPost || r.Header.Get("Smithy-Protocol") != "rpc-v2-cbor" {
		return "", nil, errors.New("a POST with Smithy-Protocol: rpc-v2-cbor is expected")
	}
	if err := checkCBOR(body); err != nil {
		return "", nil, err
	}
	decoded, err := cbor.Decode(body)
	if err != nil {
		return "", nil, err
	}
	in, err := mapOf(decoded)
	return strings.TrimPrefix(r.URL.Path, CloudWatchPath), in, err
}

func mapOf(value cbor.Value) (cbor.Map, error) {
	in, ok := value.(cbor.Map)
	if !ok {
		return nil, errors.New("a map is expected")
	}
	return in, nil
}

func (p cborProtocol) write(w http.ResponseWriter, _ string, out cbor.Map) {
	p.send(w, http.StatusOK, out)
}

func (p cborProtocol) refuse(w http.ResponseWriter, status int, err *cloudWatchError) {
	p.send(w, status, cbor.Map{"__type": cbor.String("com.amazonaws.cloudwatch#" + err.kind), "message": cbor.String(err.message)})
}

func (cborProtocol) send(w http.ResponseWriter, status int, out cbor.Map) {
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	sendMetrics(w, status, "application/cbor", cbor.Encode(out))
}

func sendMetrics(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", string(appendRequestID(nil)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone if this fails
}

// jsonProtocol is AWS's JSON 1.0, which boto3 speaks to CloudWatch.
type jsonProtocol struct{}

func (jsonProtocol) read(r *http.Request, body []byte) (string, cbor.Map, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	value, err := (&jsonMetrics{decoder: d}).value("", 0)
	if err != nil {
		return "", nil, fmt.Errorf("JSON at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", nil, errors.New("JSON has more after its end")
	}
	in, err := mapOf(value)
	return strings.TrimPrefix(targetOf(r), cloudWatchTarget), in, err
}

// jsonMetrics reads values, as many and as deep as checkCBOR allows.
type jsonMetrics struct {
	decoder *json.Decoder
	values  int
}

// value reads the next value, which a member of this name has.
func (j *jsonMetrics) value(name string, depth int) (cbor.Value, error) {
	token, err := j.token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		return cbor.String(token), nil
	case json.Number:
		return numberOf(name, token.String())
	case json.Delim:
		if depth == maxCBORDepth {
			return nil, fmt.Errorf("values are nested more than %d deep", maxCBORDepth)
		}
		if token == '[' {
			return j.list(depth + 1)
		}
		return j.members(depth + 1)
	}
	return nil, nil // true, false and null: nothing that is read here
}

func (j *jsonMetrics) token() (json.Token, error) {
	if j.values++; j.values > maxCBORValues {
		return nil, fmt.Errorf("there are more than %d values", maxCBORValues)
	}
	return j.decoder.Token()
}

func (j *jsonMetrics) list(depth int) (cbor.Value, error) {
	list := cbor.List{}
	for j.decoder.More() {
		value, err := j.value("", depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := j.decoder.Token()
	return list, err
}

func (j *jsonMetrics) members(depth int) (cbor.Value, error) {
	members := cbor.Map{}
	for j.decoder.More() {
		name, err := j.token()
		if err != nil {
			return nil, err
		}
		key := name.(string) // the decoder lets nothing else be a name
		if members[key], err = j.value(key, depth); err != nil {
			return nil, err
		}
	}
	_, err := j.decoder.Token()
	return members, err
}

// isMetricTime reports whether a member of requests is a time.
func isMetricTime(name string) bool { return name == "StartTime" || name == "EndTime" }

// numberOf returns a number as CBOR has it: a time is tagged.
func numberOf(name, text string) (cbor.Value, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%.40q is not a number", text)
	}
	if isMetricTime(name) {
		return &cbor.Tag{ID: 1, Value: cbor.Float64(f)}, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return cbor.Uint(n), nil
	}
	return cbor.Float64(f), nil
}

func (jsonProtocol) write(w http.ResponseWriter, _ string, out cbor.Map) {
	sendMetrics(w, http.StatusOK, amzJSON[0], appendMetricsJSON(nil, out))
}

func (jsonProtocol) refuse(w http.ResponseWriter, status int, err *cloudWatchError) {
	w.Header().Set("X-Amzn-Query-Error", err.code()+";Sender")
	sendMetrics(w, status, amzJSON[0], appendMetricsJSON(nil, cbor.Map{"__type": cbor.String(err.kind), "message": cbor.String(err.message)}))
}

// appendMetricsJSON appends what answers consist of.
func appendMetricsJSON(dst []byte, value cbor.Value) []byte {
	switch value := value.(type) {
	case cbor.Map:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendQuote(dst, name), ':')
			dst = appendMetricsJSON(dst, value[name])
		}
		return append(dst, '}')
	case cbor.List:
		dst = append(dst, '[')
		for i, member := range value {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendMetricsJSON(dst, member)
		}
		return append(dst, ']')
	case cbor.String:
		quoted, _ := json.Marshal(string(value)) // every string can be encoded
		return append(dst, quoted...)
	}
	return append(dst, scalarText(value)...)
}

// scalarText returns a number in digits, and a time as seconds.
func scalarText(value cbor.Value) string {
	switch value := value.(type) {
	case cbor.String:
		return string(value)
	case cbor.Uint:
		return strconv.FormatUint(uint64(value), 10)
	case cbor.Float64:
		return strconv.FormatFloat(float64(value), 'f', -1, 64)
	case *cbor.Tag:
		return scalarText(value.Value)
	}
	return "null"
}

// metricVersion is the version of CloudWatch's API. In forms, where all services have one path, it tells them apart.
const metricVersion = "2010-08-01"

// formProtocol is AWS's query protocol, which older SDKs and programs speak: a form in, XML out.
type formProtocol struct{}

func (formProtocol) read(_ *http.Request, body []byte) (string, cbor.Map, error) {
	form, err := url.ParseQuery(string(body)) // 10,000 fields at most
	if err != nil {
		return "", nil, err
	}
	if version := form.Get("Version"); version != "" && version != metricVersion {
		return "", nil, &cloudWatchError{"InvalidAction", fmt.Sprintf("%.50q of version %.20q is an operation of another service than DynamoDB, "+
			"DynamoDB Streams and CloudWatch: set AWS_ENDPOINT_URL_DYNAMODB instead of AWS_ENDPOINT_URL, which is for all services", form.Get("Action"), version)}
	}
	root, left := &formValue{}, maxCBORValues
	for path, values := range form {
		if strings.Count(path, ".") > 2*maxCBORDepth {
			return "", nil, fmt.Errorf("values are nested more than %d deep", maxCBORDepth)
		}
		if root.set(strings.Split(path, "."), values[0], &left); left < 0 {
			return "", nil, fmt.Errorf("there are more than %d values", maxCBORValues)
		}
	}
	value, err := root.value("")
	if err != nil {
		return "", nil, err
	}
	in, err := mapOf(value)
	return form.Get("Action"), in, err
}

// formValue is a value of a form: a text, or members by the parts of their names, as in Dimensions.member.1.Name.
type formValue struct {
	text    string
	members map[string]*formValue
}

// set sets the text under a path, if not more values than are left are needed for that.
func (f *formValue) set(path []string, text string, left *int) {
	if len(path) == 0 {
		f.text = text
		return
	}
	if f.members == nil {
		f.members = make(map[string]*formValue)
	}
	if f.members[path[0]] == nil {
		if *left--; *left < 0 {
			return
		}
		f.members[path[0]] = &formValue{}
	}
	f.members[path[0]].set(path[1:], text, left)
}

// value returns what a member of this name has.
func (f *formValue) value(name string) (cbor.Value, error) {
	switch list := f.members["member"]; {
	case f.members == nil:
		return scalarOf(name, f.text)
	case list != nil && len(f.members) == 1:
		return list.list()
	}
	members := cbor.Map{}
	for name, member := range f.members {
		value, err := member.value(name)
		if err != nil {
			return nil, err
		}
		members[name] = value
	}
	return members, nil
}

// list returns members in the order of their numbers.
func (f *formValue) list() (cbor.Value, error) {
	numbers := make([]int, 0, len(f.members))
	byNumber := make(map[int]*formValue, len(f.members))
	for name, member := range f.members {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%.40q is not the number of a member", name)
		}
		numbers = append(numbers, n)
		byNumber[n] = member
	}
	slices.Sort(numbers)
	list := cbor.List{}
	for _, n := range slices.Compact(numbers) {
		value, err := byNumber[n].value("")
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// scalarOf returns a text of a form as what the member of this name is.
func scalarOf(name, text string) (cbor.Value, error) {
	switch name {
	case "StartTime", "EndTime":
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("%s is %.40q: give a time such as 2026-06-22T15:04:05Z", name, text)
		}
		return &cbor.Tag{ID: 1, Value: cbor.Float64(float64(at.UnixMilli()) / 1000)}, nil
	case "Period", "MaxDatapoints", "MaxContributorCount":
		return numberOf(name, text)
	}
	return cbor.String(text), nil
}

const metricNamespace = "http://monitoring.amazonaws.com/doc/2010-08-01/"

func (formProtocol) write(w http.ResponseWriter, operation string, out cbor.Map) {
	dst := fmt.Appendf(nil, `<%sResponse xmlns="%s"><%sResult>`, operation, metricNamespace, operation)
	dst = appendMetricsXML(dst, out)
	dst = fmt.Appendf(dst, "</%sResult><ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%sResponse>", operation, appendRequestID(nil), operation)
	sendMetrics(w, http.StatusOK, "text/xml", dst)
}

func (formProtocol) refuse(w http.ResponseWriter, status int, err *cloudWatchError) {
	var dst bytes.Buffer
	fmt.Fprintf(&dst, `<ErrorResponse xmlns="%s"><Error><Type>Sender</Type><Code>%s</Code><Message>`, metricNamespace, err.code())
	_ = xml.EscapeText(&dst, []byte(err.message)) // a buffer takes everything
	fmt.Fprintf(&dst, "</Message></Error><RequestId>%s</RequestId></ErrorResponse>", appendRequestID(nil))
	sendMetrics(w, status, "text/xml", dst.Bytes())
}

// appendMetricsXML appends what answers consist of. Times are in words, as XML has no type for them.
func appendMetricsXML(dst []byte, value cbor.Value) []byte {
	switch value := value.(type) {
	case cbor.Map:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			dst = appendElement(dst, name, value[name])
		}
		return dst
	case cbor.List:
		for _, member := range value {
			dst = appendElement(dst, "member", member)
		}
		return dst
	case *cbor.Tag:
		if seconds, ok := value.Value.(cbor.Float64); ok {
			return time.UnixMilli(int64(math.Round(1000*float64(seconds)))).UTC().AppendFormat(dst, time.RFC3339)
		}
	}
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(scalarText(value))) // a buffer takes everything
	return append(dst, escaped.Bytes()...)
}

func appendElement(dst []byte, name string, value cbor.Value) []byte {
	dst = append(append(append(dst, '<'), name...), '>')
	dst = appendMetricsXML(dst, value)
	return append(append(append(dst, "</"...), name...), '>')
}

// code returns what an exception is called by the protocols that came before CBOR.
func (e *cloudWatchError) code() string {
	return cmp.Or(map[string]string{
		"InternalServiceFault":                 "InternalServiceError",
		"InvalidParameterCombinationException": "InvalidParameterCombination",
		"InvalidParameterValueException":       "InvalidParameterValue",
		"MissingRequiredParameterException":    "MissingParameter",
	}[e.kind], e.kind)
}
