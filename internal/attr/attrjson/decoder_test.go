package attrjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

func jsonNumber(t testing.TB, s string) attr.Value {
	t.Helper()
	n, err := attr.ParseNumber(s)
	if err != nil {
		t.Fatal(err)
	}
	return attr.Num(n)
}

func TestDecodeValue(t *testing.T) {
	for _, c := range []struct {
		text string
		want attr.Value
		back string // empty: text
	}{
		{`{"S":"a"}`, attr.String("a"), ``},
		{`{"S":""}`, attr.String(""), ``},
		{`{"S":"\u00e9\n"}`, attr.String("é\n"), `{"S":"é\n"}`},
		{`{"N":"1.50e2"}`, jsonNumber(t, "150"), `{"N":"150"}`},
		{`{"N":"-0.001"}`, jsonNumber(t, "-0.001"), ``},
		{`{"B":"AP8="}`, attr.Binary("\x00\xff"), ``},
		{`{"B":""}`, attr.Binary(""), ``},
		{`{"BOOL":true}`, attr.Boolean(true), ``},
		{`{"BOOL":false}`, attr.Boolean(false), ``},
		{`{"NULL":true}`, attr.Value{Kind: attr.Null}, ``},
		{`{"SS":["b","a"]}`, attr.Set(attr.SS, []attr.Value{attr.String("a"), attr.String("b")}), `{"SS":["a","b"]}`},
		{`{"SS":[""]}`, attr.Set(attr.SS, []attr.Value{attr.String("")}), ``},
		{`{"NS":["10","9.0"]}`, attr.Set(attr.NS, []attr.Value{jsonNumber(t, "9"), jsonNumber(t, "10")}), `{"NS":["9","10"]}`},
		{`{"BS":["/w==","AA=="]}`, attr.Set(attr.BS, []attr.Value{attr.Binary("\x00"), attr.Binary("\xff")}), `{"BS":["AA==","/w=="]}`},
		{`{"L":[]}`, attr.List(), ``},
		{`{"L":[{"S":"x"},{"L":[{"N":"1"}]}]}`, attr.List(attr.String("x"), attr.List(jsonNumber(t, "1"))), ``},
		{`{"M":{}}`, attr.Map(nil), ``},
		{
			`{"M":{"b":{"S":"x"},"a":{"M":{"d":{"NULL":true},"c":{"BOOL":true}}}}}`,
			attr.Map(attr.Item{
				{Name: "a", Value: attr.Map(attr.Item{{Name: "c", Value: attr.Boolean(true)}, {Name: "d", Value: attr.Value{Kind: attr.Null}}})},
				{Name: "b", Value: attr.String("x")},
			}),
			`{"M":{"a":{"M":{"c":{"BOOL":true},"d":{"NULL":true}}},"b":{"S":"x"}}}`,
		},
		{`{"S":"a","N":null,"X":[{}]}`, attr.String("a"), `{"S":"a"}`},
		{`{"S":"a","S":"b"}`, attr.String("b"), `{"S":"b"}`},
	} {
		t.Run(c.text, func(t *testing.T) {
			var d Decoder
			d.Reset(c.text)
			got := d.Value()
			if d.End() != nil || d.Fault != nil {
				t.Fatalf("got errors %v, %v", d.Err(), d.Fault)
			}
			if !got.Equal(c.want) {
				t.Fatalf("got %#v, want %#v", got, c.want)
			}
			want := cmp.Or(c.back, c.text)
			if back := string(AppendValue(nil, got)); back != want {
				t.Errorf("it writes as %s, want %s", back, want)
			}
			raw, err := AppendStored(nil, attr.NewRaw(attr.Item{{Name: "a", Value: got}}))
			if err != nil || string(raw) != `{"a":`+want+`}` {
				t.Errorf("stored it writes as %s, %v", raw, err)
			}
		})
	}
}

func TestDecodeItemOrder(t *testing.T) {
	var d Decoder
	d.Reset(`{"c":{"S":"1"},"a":{"M":{"z":{"N":"1"},"y":{"N":"2"}}},"b":{"S":"2"},"a":{"S":"3"},"c":{"S":"4"}}`)
	got := d.Item(&ItemType)
	want := attr.Item{{Name: "a", Value: attr.String("3")}, {Name: "b", Value: attr.String("2")}, {Name: "c", Value: attr.String("4")}}
	if !got.Equal(want) || d.End() != nil || d.Fault != nil {
		t.Errorf("got %v, %v, %v, want %v", got, d.Err(), d.Fault, want)
	}
	for name, left := range map[string]int{"fields": len(d.fields), "values": len(d.values)} {
		if left != 0 {
			t.Errorf("%d %s were left behind", left, name)
		}
	}
	for _, f := range d.fields[:cap(d.fields)] {
		if f.Name != "" {
			t.Errorf("the decoder holds on to %q", f.Name)
		}
	}
}

// nestedMaps returns a string in the given number of maps.
func nestedMaps(n int) string {
	return strings.Repeat(`{"M":{"n":`, n) + `{"S":"leaf"}` + strings.Repeat(`}}`, n)
}

func TestDecodeFaults(t *testing.T) {
	invalid := "One or more parameter values were invalid: "
	for _, c := range []struct{ name, text, want string }{
		{"empty", `{}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"unknown type", `{"X":"a"}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"null type", `{"S":null}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"null", `null`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"null in list", `{"L":[null]}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"null in map", `{"M":{"a":null}}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"two types", `{"S":"a","N":"1"}`, "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"two types, one bad", `{"S":"a","N":"b"}`, "The parameter cannot be converted to a numeric value: b"},
		{"no number", `{"N":""}`, "The parameter cannot be converted to a numeric value"},
		{"word", `{"N":"one"}`, "The parameter cannot be converted to a numeric value: one"},
		{"overflow", `{"N":"1e126"}`, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"underflow", `{"N":"1e-131"}`, "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
		{"digits", `{"N":"` + strings.Repeat("1", 39) + `"}`, "Attempting to store more than 38 significant digits in a Number"},
		{"bad number in set", `{"NS":["1","x"]}`, "The parameter cannot be converted to a numeric value: x"},
		{"null false", `{"NULL":false}`, invalid + "Null attribute value types must have the value of true"},
		{"empty SS", `{"SS":[]}`, invalid + "An string set  may not be empty"},
		{"empty NS", `{"NS":[]}`, invalid + "An number set  may not be empty"},
		{"empty BS", `{"BS":[]}`, invalid + "Binary sets should not be empty"},
		{"empty set deep inside", `{"L":[{"M":{"a":{"SS":[]}}}]}`, invalid + "An string set  may not be empty"},
		{"null in set", `{"SS":["a",null]}`, invalid + "An string set  may not have a null string as a member"},
		{"twice in SS", `{"SS":["b","a","b"]}`, invalid + "Input collection [b, a, b] contains duplicates."},
		{"twice in NS", `{"NS":["1","1.0"]}`, "Input collection contains duplicates"},
		{"twice in BS", `{"BS":["Yg==","Yg=="]}`, invalid + "Input collection [Yg==, Yg==]of type BS contains duplicates."},
		{"32 maps", nestedMaps(32), "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"100 maps", nestedMaps(100), "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"31 maps", nestedMaps(31), ""},
		{"first of two", `{"L":[{"N":"x"},{"N":"y"}]}`, "The parameter cannot be converted to a numeric value: x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Decoder
			d.Reset(c.text)
			d.Value()
			if err := d.End(); err != nil {
				t.Fatalf("a fault must not stop the decoder: %v", err)
			}
			var want error
			if c.want != "" {
				want = attr.Fault(c.want)
			}
			if d.Fault != want {
				t.Errorf("got %v, want %v", d.Fault, want)
			}
		})
	}
}

// repeated returns n times element between commas.
func repeated(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

// kept counts the values in a value, itself included.
func kept(v attr.Value) int {
	n := 1
	for _, e := range v.List {
		n += kept(e)
	}
	for _, f := range v.Map {
		n += kept(f.Value)
	}
	return n
}

// An item that is too large is read to its end, but not kept. That it is too
// large can be seen from what is kept, or it is a fault.
func TestDecodeTooLarge(t *testing.T) {
	const most = maxItemSize + 100
	distinct := make([]string, 0, 150_000)
	for i := range cap(distinct) {
		distinct = append(distinct, fmt.Sprintf(`"%x":{"S":""}`, i))
	}
	fields := "{" + strings.Join(distinct, ",") + "}"
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"list", `{"a":{"L":[` + repeated(`{"S":""}`, 450_000) + `]}}`, nil},
		{"maps", `{"a":{"L":[` + repeated(`{"M":{"x":{"S":""}}}`, 150_000) + `]}}`, nil},
		{"attributes", fields, nil},
		{"map", `{"a":{"M":` + fields + `}}`, nil},
		{"set behind a string", `{"a":{"S":"` + strings.Repeat("x", maxItemSize+1) + `"},"b":{"SS":[` + repeated(`""`, 450_000) + `]}}`, nil},
		{"fault behind it", `{"a":{"L":[` + repeated(`{"S":""}`, 450_000) + `,{"NULL":false}]}}`, ErrNullFalse},
		{"the same attribute", `{` + repeated(`"a":{"S":""}`, 450_000) + `}`, errItemSize},
		{"the same attribute without a name", `{` + repeated(`"":{"S":""}`, 450_000) + `}`, attr.CheckName("")},
		{"a list twice", `{"a":{"L":[` + repeated(`{"S":""}`, 450_000) + `],"L":[]}}`, errItemSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Decoder
			d.Reset(c.text)
			it := d.Item(&ItemType)
			if d.End() != nil || d.Fault != c.want {
				t.Errorf("got %v, %.200v, want %v", d.Err(), d.Fault, c.want)
			}
			if size := it.Size(); c.want == nil && size <= maxItemSize {
				t.Errorf("what is kept has %d bytes", size)
			}
			if n := kept(attr.Map(it)); n > most {
				t.Errorf("%d values were kept", n)
			}
			if n := max(cap(d.fields), cap(d.values)); n > 2*most {
				t.Errorf("there was memory for %d values", n)
			}
		})
	}
	var d Decoder
	d.Reset(`{"SS":[` + repeated(`""`, 450_000) + `]}`)
	if v := d.Value(); d.End() != nil || d.Fault == nil || len(d.Fault.Error()) > 3*most || len(v.List) != 1 {
		t.Errorf("a set of the same: got %d elements, %.100v", len(v.List), d.Fault)
	}
}

// Whatever is not larger than an item may be is kept.
func TestDecodeLargest(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"string", `{"a":{"S":"` + strings.Repeat("x", maxItemSize-1) + `"}}`},
		{"empty strings", `{"a":{"L":[` + repeated(`{"S":""}`, maxItemSize-4) + `]}}`},
		{"sets", `{"a":{"L":[` + repeated(`{"SS":[""]}`, maxItemSize-4) + `]}}`},
	} {
		var d Decoder
		for _, read := range []func(*jsonpull.Type) attr.Item{d.Item, d.Values} {
			d.Reset(c.text)
			it := read(&ItemType)
			if d.End() != nil || d.Fault != nil || it.Size() != maxItemSize {
				t.Errorf("%s: got %v, %v, %d bytes", c.name, d.Err(), d.Fault, it.Size())
			}
		}
	}
	var d Decoder
	key := `{"a":{"S":"` + strings.Repeat("x", maxItemSize) + `"},"b":{"S":"y"}}`
	d.Reset(key)
	if it := d.Item(&ItemType); len(it) != 2 || d.Fault != nil {
		t.Errorf("a large key has %d attributes, %v", len(it), d.Fault)
	}
}

func TestDecodeValuesTooLarge(t *testing.T) {
	long := `":%d":{"S":"` + strings.Repeat("x", 1<<20) + `"},`
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"nearly two megabytes", `{` + fmt.Sprintf(long, 1) + `":2":{"S":"` + strings.Repeat("x", 1<<20-12) + `"}}`, nil},
		{"two megabytes", `{` + fmt.Sprintf(long, 1) + fmt.Sprintf(long, 2) + `":3":{"S":""}}`, ErrValuesSize},
		{"list", `{":1":{"L":[` + repeated(`{"S":""}`, 450_000) + `]}}`, ErrValuesSize},
		{"fault before", `{":0":{"NULL":false},":1":{"L":[` + repeated(`{"S":""}`, 450_000) + `]}}`, ErrNullFalse},
	} {
		var d Decoder
		d.Reset(c.text)
		it := d.Values(&ItemType)
		if d.End() != nil || d.Fault != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.name, d.Err(), d.Fault, c.want)
		}
		if n := kept(attr.Map(it)); n > maxValuesSize/5+100 {
			t.Errorf("%s: %d values were kept", c.name, n)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		text  string
		found jsonpull.Kind
		shape jsonpull.Shape
	}{
		{`5`, jsonpull.Integer, jsonpull.Element},
		{`[]`, jsonpull.Array, jsonpull.Element},
		{`{"S":5}`, jsonpull.Integer, jsonpull.Scalar},
		{`{"N":1.5}`, jsonpull.Decimal, jsonpull.Scalar},
		{`{"B":true}`, jsonpull.True, jsonpull.Blob},
		{`{"BOOL":"maybe"}`, jsonpull.String, jsonpull.Scalar},
		{`{"NULL":0}`, jsonpull.Integer, jsonpull.Scalar},
		{`{"SS":"a"}`, jsonpull.String, jsonpull.List},
		{`{"SS":[1]}`, jsonpull.Integer, jsonpull.Scalar},
		{`{"BS":[[]]}`, jsonpull.Array, jsonpull.Blob},
		{`{"L":{}}`, jsonpull.Object, jsonpull.List},
		{`{"L":["a"]}`, jsonpull.String, jsonpull.Element},
		{`{"M":[]}`, jsonpull.Array, jsonpull.Map},
		{`{"M":{"a":"b"}}`, jsonpull.String, jsonpull.Element},
	} {
		var d Decoder
		d.Reset(c.text)
		d.Value()
		var wrong *jsonpull.TypeError
		if !errors.As(d.End(), &wrong) || wrong.Found != c.found || wrong.Wanted.Shape != c.shape {
			t.Errorf("%s: got %v, want %d for %d", c.text, d.Err(), c.found, c.shape)
		}
	}
	for text, want := range map[string]string{
		`{"B":"23456"}`:     "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
		`{"B":"=+/="}`:      "Invalid last non-pad Base64 character dectected",
		`{"B":"+/+="}`:      "Invalid last non-pad Base64 character dectected",
		`{"B":"AA\n==AAA"}`: "Invalid last non-pad Base64 character dectected",
		`{"BS":["A"]}`:      "Base64 encoded length is expected a multiple of 4 bytes but found: 1",
	} {
		var d Decoder
		d.Reset(text)
		d.Value()
		if d.End() != Malformed(want) {
			t.Errorf("%s: got %v, want %s", text, d.Err(), want)
		}
	}
}

// What is read and written back reads the same, whether it was stored between
// or not.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		benchItem, `{"a":{"L":[{"NS":["1","-2.5"]},{"BS":["AA==","/w=="]}]},"b":{"NULL":true}}`, `{"a":{"S":1}}`, `{"a":{},"b":{"N":"x"}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d Decoder
		d.Reset(text)
		it := d.Item(&ItemType)
		if d.End() != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatal("not JSON, but read")
		}
		if d.Fault != nil {
			return
		}
		back := string(AppendItem(nil, it))
		if raw, err := AppendStored(nil, attr.NewRaw(it)); err != nil || string(raw) != back {
			t.Fatalf("stored it is %s, %v, otherwise %s", raw, err, back)
		}
		d.Reset(back)
		if again := d.Item(&ItemType); d.End() != nil || d.Fault != nil || !again.Equal(it) {
			t.Fatalf("%s reads as %v, %v, %v", back, again, d.Err(), d.Fault)
		}
		if d.size > it.Size()+1 {
			t.Fatalf("%s has %d bytes, but %d were counted", back, it.Size(), d.size)
		}
	})
}

const benchItem = `{"pk":{"S":"user#00012345"},"sk":{"S":"order#2026-11-15T10:00:00Z"},"amount":{"N":"1299.95"},"count":{"N":"42"},` +
	`"status":{"S":"SHIPPED"},"tags":{"SS":["blue","large"]},"paid":{"BOOL":true},"address":{"M":{"city":{"S":"Zürich"},"zip":{"S":"8001"}}}}`

func BenchmarkDecodeItem(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(benchItem)))
	var d Decoder
	for b.Loop() {
		d.Reset(benchItem)
		d.Item(&ItemType)
		if err := d.End(); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleDecoder() {
	var d Decoder
	d.Reset(`{"sk":{"N":"1e2"},"pk":{"S":"a"},"bad":{"SS":[]}}`)
	it := d.Item(&ItemType)
	fmt.Println(d.End(), d.Fault, "in", d.FaultName)
	fmt.Println(it.Get("bad").Kind, it.Get("sk").Number())
	// Output:
	// <nil> One or more parameter values were invalid: An string set  may not be empty in bad
	// SS 100
}
