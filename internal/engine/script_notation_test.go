package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
)

// Scripts write values in a light form of JSON:
//
//	"text"  "x"*4000          S; the latter is 4000 times x
//	1  -2.50  1E+10           N
//	true  false  null         BOOL, NULL
//	[1, "a"]  {name: 1}       L, M; names need quotes only if they are no words
//	B"AAEC"  B"/w=="*10       B, in base64
//	SS["a", "b"]  NS[1, 2]    sets; a tag in front, so that nothing looks like a map
//	BS["AAEC"]
//	N"abc"                    a number that is none
//
// What is read goes through the decoder that requests go through, so that scripts
// can also show what is wrong with a value.

// readItem reads an item. fault is what DynamoDB would find wrong with it.
func readItem(text string) (it attr.Item, fault, err error) {
	fields, err := toJSON(text, '{')
	if err != nil {
		return nil, nil, err
	}
	var d attrjson.Decoder
	d.Reset(fields)
	it = d.Item(&attrjson.ItemType)
	return it, d.Fault, d.End()
}

// readValue reads a value.
func readValue(text string) (v attr.Value, fault, err error) {
	value, err := toJSON(text, 0)
	if err != nil {
		return v, nil, err
	}
	var d attrjson.Decoder
	d.Reset(value)
	v = d.Value()
	return v, d.Fault, d.End()
}

// toJSON turns a value, or the fields of a map, into DynamoDB's JSON.
func toJSON(text string, opening byte) (string, error) {
	n := &notation{rest: text}
	if opening == '{' {
		n.fields()
	} else {
		n.value()
	}
	if n.space(); n.err == nil && n.rest != "" {
		n.fail("something behind the end")
	}
	return n.out.String(), n.err
}

// notation is a value while it is read.
type notation struct {
	rest string
	out  strings.Builder
	err  error
}

func (n *notation) fail(what string) {
	if n.err == nil {
		n.err = fmt.Errorf("%s at %q", what, n.rest)
	}
	n.rest = ""
}

func (n *notation) space() { n.rest = strings.TrimLeft(n.rest, " ") }

// accept reads a piece of text if it comes next.
func (n *notation) accept(text string) bool {
	n.space()
	rest, ok := strings.CutPrefix(n.rest, text)
	if ok {
		n.rest = rest
	}
	return ok
}

func (n *notation) expect(text string) {
	if !n.accept(text) {
		n.fail("expected " + text)
	}
}

// take reads what a pattern matches.
func (n *notation) take(pattern *regexp.Regexp) string {
	n.space()
	found := pattern.FindString(n.rest)
	n.rest = n.rest[len(found):]
	return found
}

var (
	wordPattern   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	numberPattern = regexp.MustCompile(`^[-+.0-9][-+.0-9eE]*`)
	stringPattern = regexp.MustCompile(`^"([^"\\]|\\.)*"`)
	countPattern  = regexp.MustCompile(`^\*[0-9]+`)
)

func (n *notation) value() {
	if number := n.take(numberPattern); number != "" {
		fmt.Fprintf(&n.out, `{"N":%q}`, number)
		return
	}
	switch word := n.take(wordPattern); word {
	case "true", "false":
		fmt.Fprintf(&n.out, `{"BOOL":%s}`, word)
	case "null":
		n.out.WriteString(`{"NULL":true}`)
	case "N":
		fmt.Fprintf(&n.out, `{"N":%s}`, quoteJSON(n.text()))
	case "B":
		fmt.Fprintf(&n.out, `{"B":"%s"}`, base64.StdEncoding.EncodeToString([]byte(n.binary())))
	case "SS", "NS", "BS":
		n.out.WriteString(`{"` + word + `":`)
		n.list(func() { n.element(word) })
		n.out.WriteString(`}`)
	case "":
		n.unnamed()
	default:
		n.fail("unknown word " + word)
	}
}

// unnamed reads a value without a tag.
func (n *notation) unnamed() {
	n.space()
	switch {
	case strings.HasPrefix(n.rest, `"`):
		fmt.Fprintf(&n.out, `{"S":%s}`, quoteJSON(n.text()))
	case strings.HasPrefix(n.rest, "["):
		n.out.WriteString(`{"L":`)
		n.list(n.value)
		n.out.WriteString(`}`)
	case strings.HasPrefix(n.rest, "{"):
		n.out.WriteString(`{"M":`)
		n.fields()
		n.out.WriteString(`}`)
	default:
		n.fail("expected a value")
	}
}

// list reads elements in brackets.
func (n *notation) list(element func()) {
	n.expect("[")
	n.out.WriteByte('[')
	for first := true; n.err == nil && !n.accept("]"); first = false {
		if !first {
			n.expect(",")
			n.out.WriteByte(',')
		}
		element()
	}
	n.out.WriteByte(']')
}

func (n *notation) element(set string) {
	if set == "NS" {
		n.out.WriteString(strconv.Quote(n.take(numberPattern)))
		return
	}
	n.out.WriteString(quoteJSON(n.text()))
}

// fields reads named values in braces.
func (n *notation) fields() {
	n.expect("{")
	n.out.WriteByte('{')
	for first := true; n.err == nil && !n.accept("}"); first = false {
		if !first {
			n.expect(",")
			n.out.WriteByte(',')
		}
		name := n.take(wordPattern)
		if name == "" {
			name = n.text()
		}
		n.out.WriteString(quoteJSON(name))
		n.expect(":")
		n.out.WriteByte(':')
		n.value()
	}
	n.out.WriteByte('}')
}

// text reads a string, repeated as often as it says.
func (n *notation) text() string {
	quoted := n.take(stringPattern)
	if quoted == "" {
		n.fail("expected a string")
		return ""
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		n.fail(err.Error())
	}
	return n.repeat(s)
}

func (n *notation) repeat(s string) string {
	times := n.take(countPattern)
	if times == "" {
		return s
	}
	count, err := strconv.Atoi(times[1:])
	if err != nil || count*len(s) > 1<<20 {
		n.fail("too often: " + times)
		return ""
	}
	return strings.Repeat(s, count)
}

// binary reads a string of base64 and returns the bytes, repeated as often as it
// says.
func (n *notation) binary() string {
	b, err := base64.StdEncoding.DecodeString(strings.Trim(n.take(stringPattern), `"`))
	if err != nil {
		n.fail(err.Error())
	}
	return n.repeat(string(b))
}

func quoteJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings can be written
	}
	return string(text)
}

// showRaw writes a stored item in the scripts' notation.
func showRaw(raw attr.Raw) string {
	it, err := raw.Decode()
	if err != nil {
		return "error: " + err.Error()
	}
	return showItem(it)
}

func showItem(it attr.Item) string {
	fields := make([]string, len(it))
	for i, f := range it {
		name := f.Name
		if wordPattern.FindString(name) != name || name == "" {
			name = quoteJSON(name)
		}
		fields[i] = name + ": " + showValue(f.Value)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func showValue(v attr.Value) string {
	switch v.Kind {
	case attr.S:
		return showText(v.Str)
	case attr.N:
		return v.Number().String()
	case attr.B:
		return "B" + showBinary(v.Str)
	case attr.Bool:
		return strconv.FormatBool(v.Bool)
	case attr.Null:
		return "null"
	case attr.M:
		return showItem(v.Map)
	}
	elems := make([]string, len(v.List))
	for i, e := range v.List {
		elems[i] = showValue(e)
		if v.Kind == attr.BS {
			elems[i] = showBinary(e.Str)
		}
	}
	tag := ""
	if v.Kind != attr.L {
		tag = v.Kind.String()
	}
	return tag + "[" + strings.Join(elems, ", ") + "]"
}

// showText writes a string; long ones of one character are shortened.
func showText(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	if len(s) > 40 && s == strings.Repeat(s[:size], len(s)/size) {
		return fmt.Sprintf("%s*%d", quoteText(s[:size]), len(s)/size)
	}
	return quoteText(s)
}

// quoteText is quoteJSON without its escapes for HTML.
func quoteText(s string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // strings can be written
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func showBinary(s string) string {
	if len(s) > 30 && s == strings.Repeat(s[:1], len(s)) {
		return fmt.Sprintf("%q*%d", base64.StdEncoding.EncodeToString([]byte(s[:1])), len(s))
	}
	return strconv.Quote(base64.StdEncoding.EncodeToString([]byte(s)))
}
