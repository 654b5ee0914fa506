package keys

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// refused reports whether an error is one of ours and says what it must.
func refused(err error, says string) bool {
	return errors.Is(err, ErrPart) && strings.Contains(err.Error(), says)
}

func TestComposite(t *testing.T) {
	for _, c := range []struct {
		name      string
		separator string
		parts     []string
		want      string
		refused   string
	}{
		{"two parts", "#", []string{"USER", "123"}, "USER#123", ""},
		{"four parts", "#", []string{"USER", "123", "ORDER", "456"}, "USER#123#ORDER#456", ""},
		{"one part", "#", []string{"USER"}, "USER", ""},
		{"other separator", "|", []string{"USER", "123"}, "USER|123", ""},
		{"the usual separator within a part", "|", []string{"USER#123", "456"}, "USER#123|456", ""},
		{"long separator", "::", []string{"USER", "123"}, "USER::123", ""},
		{"empty part in between", "#", []string{"A", "", "B"}, "A##B", ""},
		{"empty parts only", "#", []string{"", ""}, "#", ""},
		{"part of a separator after it", "::", []string{"a", ":b"}, "a:::b", ""},
		{"part of a separator at the end", "::", []string{"a", "b:"}, "a::b:", ""},
		{"no parts", "#", nil, "", "at least one non-empty part"},
		{"nothing but an empty part", "#", []string{""}, "", "at least one non-empty part"},
		{"separator in a part", "#", []string{"A", "USER#123"}, "", `part 1: "USER#123" contains the separator "#"`},
		{"part of a separator before it", "::", []string{"a:", "b"}, "", `part 0: "a:" runs into the separator "::"`},
		{"empty separator", "", []string{"A", "B"}, "", "the separator is empty"},
		{"not UTF-8", "#", []string{"A", "\xff"}, "", `part 1: "\xff" is not valid UTF-8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := CompositeWith(c.separator, c.parts...)
			if c.refused != "" {
				if got != "" || !refused(err, c.refused) {
					t.Errorf("got %q, %v, want an error that says %s", got, err, c.refused)
				}
				return
			}
			if got != c.want || err != nil {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
			if parts, err := ParseCompositeWith(c.separator, got); !slices.Equal(parts, c.parts) || err != nil {
				t.Errorf("parsed: got %q, %v, want %q", parts, err, c.parts)
			}
		})
	}
}

func TestParseComposite(t *testing.T) {
	for key, want := range map[string][]string{"USER##123": {"USER", "", "123"}, "USER": {"USER"}, "USER#123#": {"USER", "123", ""}} {
		if got, err := ParseComposite(key); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: got %q, %v, want %q", key, got, err, want)
		}
	}
	if got, err := ParseComposite(""); !refused(err, "the key is empty") {
		t.Errorf("empty: got %q, %v", got, err)
	}
	if got, err := ParseCompositeWith("", "A"); !refused(err, "the separator is empty") {
		t.Errorf("no separator: got %q, %v", got, err)
	}
}

func TestCompositeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.StringMatching(`[ab:#]{0,4}`), rapid.String())
		separator := rapid.StringMatching(`[ab:#]{1,3}`).Draw(t, "separator")
		parts := rapid.SliceOfN(part, 1, 4).Draw(t, "parts")
		key, err := CompositeWith(separator, parts...)
		if err != nil {
			if !errors.Is(err, ErrPart) {
				t.Fatal(err)
			}
			return
		}
		if got, err := ParseCompositeWith(separator, key); !slices.Equal(got, parts) || err != nil {
			t.Fatalf("%q: got %q, %v, want %q", key, got, err, parts)
		}
	})
}

func TestEntity(t *testing.T) {
	for _, c := range []struct{ typ, id, want, refused string }{
		{"USER", "123", "USER#123", ""},
		{"ORDER", "abc-def", "ORDER#abc-def", ""},
		{"ORDER", "order_2024_01", "ORDER#order_2024_01", ""},
		{"USER", "123#456#789", "USER#123#456#789", ""},
		{"", "123", "", "the type is empty"},
		{"USER", "", "", "the id is empty"},
		{"A#B", "1", "", `the type "A#B" contains the separator "#"`},
		{"\xff", "1", "", `the type "\xff" is not valid UTF-8`},
		{"A", "\xff", "", `the id "\xff" is not valid UTF-8`},
	} {
		got, err := Entity(c.typ, c.id)
		if c.refused != "" {
			if got != "" || !refused(err, c.refused) {
				t.Errorf("%q, %q: got %q, %v, want an error that says %s", c.typ, c.id, got, err, c.refused)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%q, %q: got %q, %v, want %q", c.typ, c.id, got, err, c.want)
		}
		if typ, id, err := ParseEntity(got); typ != c.typ || id != c.id || err != nil {
			t.Errorf("%q: got %q, %q, %v", got, typ, id, err)
		}
	}
	for key, says := range map[string]string{
		"": "has no", "USER123": `entity key "USER123" has no "#" between type and id`, "USER#": "the id is empty", "#x": "the type is empty",
	} {
		if typ, id, err := ParseEntity(key); !refused(err, says) || typ != "" || id != "" {
			t.Errorf("%q: got %q, %q, %v, want an error that says %s", key, typ, id, err, says)
		}
	}
}

func TestIndexKey(t *testing.T) {
	tenant, err := Composite("TENANT", "abc", "active")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ index, typ, value, want, refused string }{
		{"GSI1", "USER", "active", "USER#active", ""},
		{"GSI2", "USER", "active", "USER#active", ""},
		{"StatusIndex", "TICKET", "open", "TICKET#open", ""},
		{"GSI1", "USER", tenant, "USER#TENANT#abc#active", ""},
		{"", "USER", "active", "", "the index name is empty"},
		{"GSI1", "", "active", "", `index "GSI1": invalid key part: the type is empty`},
		{"GSI1", "USER", "", "", `index "GSI1": invalid key part: the value is empty`},
		{"GSI1", "A#B", "1", "", `the type "A#B" contains the separator`},
	} {
		got, err := IndexKey(c.index, c.typ, c.value)
		if got != c.want || (c.refused == "") != (err == nil) || err != nil && !refused(err, c.refused) {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
}

func TestSparse(t *testing.T) {
	if got := Sparse(true, "VERIFIED#USER"); got != "VERIFIED#USER" {
		t.Errorf("in the index: got %q", got)
	}
	if got := Sparse(false, "VERIFIED#USER"); got != "" {
		t.Errorf("not in the index: got %q", got)
	}
	indexed := 0
	for i := range 1000 {
		if Sparse(i%10 == 0, &i) != nil {
			indexed++
		}
	}
	if indexed != 100 {
		t.Errorf("got %d of 1000 in the index, want 100", indexed)
	}
}

func TestHierarchy(t *testing.T) {
	for _, c := range []struct {
		segments []string
		want     string
		refused  string
	}{
		{[]string{"root", "folder1", "item"}, "root/folder1/item", ""},
		{[]string{"root"}, "root", ""},
		{[]string{"documents", "2024", "reports", "annual-report.pdf"}, "documents/2024/reports/annual-report.pdf", ""},
		{nil, "", "at least one segment"},
		{[]string{"root", ""}, "", "segment at index 1 is empty"},
		{[]string{"folder/subfolder"}, "", `segment at index 0, "folder/subfolder", contains a slash`},
		{[]string{"\xff"}, "", "not valid UTF-8"},
	} {
		got, err := Hierarchy(c.segments...)
		prefix, prefixErr := HierarchyPrefix(c.segments...)
		if c.refused != "" {
			if got != "" || !refused(err, c.refused) || prefix != "" || !refused(prefixErr, c.refused) {
				t.Errorf("%q: got %q, %v and %q, %v, want errors that say %s", c.segments, got, err, prefix, prefixErr, c.refused)
			}
			continue
		}
		if got != c.want || err != nil || prefix != c.want+"/" || prefixErr != nil {
			t.Errorf("%q: got %q, %v and %q, %v, want %q", c.segments, got, err, prefix, prefixErr, c.want)
		}
		if segments, err := ParseHierarchy(got); !slices.Equal(segments, c.segments) || err != nil {
			t.Errorf("%q: got %q, %v, want %q", got, segments, err, c.segments)
		}
	}
	for _, key := range []string{"", "root//item", "/root", "root/"} {
		if segments, err := ParseHierarchy(key); !refused(err, "is empty") || segments != nil {
			t.Errorf("%q: got %q, %v, want it refused", key, segments, err)
		}
	}
}

// begins_with the key itself finds the neighbour as well; with the prefix it does not.
func TestHierarchyPrefixStopsAtTheSegment(t *testing.T) {
	neighbour, _ := Hierarchy("root", "folder10", "x")
	inside, _ := Hierarchy("root", "folder1", "x")
	key, _ := Hierarchy("root", "folder1")
	prefix, _ := HierarchyPrefix("root", "folder1")
	if !strings.HasPrefix(neighbour, key) {
		t.Error("there is no trap to fall into")
	}
	if strings.HasPrefix(neighbour, prefix) || !strings.HasPrefix(inside, prefix) {
		t.Errorf("%q separates %q and %q wrongly", prefix, inside, neighbour)
	}
}

func TestAdjacency(t *testing.T) {
	forward, backward, err := Adjacency("PRODUCT#abc", "CATEGORY#xyz")
	if (forward != Pair{"PRODUCT#abc", "CATEGORY#xyz"}) || (backward != Pair{"CATEGORY#xyz", "PRODUCT#abc"}) || err != nil {
		t.Errorf("got %v, %v, %v", forward, backward, err)
	}
	if _, _, err := Adjacency("", "b"); !refused(err, "the source is empty") {
		t.Errorf("got %v", err)
	}
	if _, _, err := Adjacency("a", ""); !refused(err, "the target is empty") {
		t.Errorf("got %v", err)
	}
}

func TestTimeSeries(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		at   time.Time
		g    Granularity
		want string
	}{
		{at("2024-12-02T15:30:45Z"), Hour, "2024-12-02-15"},
		{at("2024-12-02T15:30:45Z"), Day, "2024-12-02"},
		{at("2024-12-02T15:30:45Z"), Month, "2024-12"},
		{at("2024-01-05T08:30:00Z"), Hour, "2024-01-05-08"},
		{at("2024-12-02T00:00:00Z"), Hour, "2024-12-02-00"},
		{at("2024-12-02T23:59:59Z"), Hour, "2024-12-02-23"},
		{at("2024-12-02T01:00:00+02:00"), Day, "2024-12-01"},
		{at("0099-01-02T00:00:00Z"), Day, "0099-01-02"},
		{at("9999-12-31T23:59:59Z"), Month, "9999-12"},
	} {
		got, err := TimeSeries(c.at, c.g)
		if got != c.want || err != nil {
			t.Errorf("%s of %v: got %q, %v, want %q", c.g, c.at, got, err, c.want)
		}
		start, g, err := ParseTimeSeries(got)
		if back, _ := TimeSeries(start, g); back != got || g != c.g || start.After(c.at) || err != nil {
			t.Errorf("%q: got %v, %s, %v", got, start, g, err)
		}
	}
	for _, c := range []struct {
		at      time.Time
		g       Granularity
		refused string
	}{
		{time.Time{}, Day, "zero time"},
		{at("2024-12-02T00:00:00Z"), 0, "unknown granularity Granularity(0)"},
		{at("2024-12-02T00:00:00Z"), 4, "unknown granularity Granularity(4)"},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Day, "10000-01-01"},
		{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), Day, "0000-01-01"},
	} {
		if got, err := TimeSeries(c.at, c.g); got != "" || !refused(err, c.refused) {
			t.Errorf("%s of %v: got %q, %v, want an error that says %s", c.g, c.at, got, err, c.refused)
		}
	}
	for _, key := range []string{"", "99-01-02", "2024-W49", "2024-12-02T15", "2024-13", "2023-02-29", "2024-12-02-24", "0000-01", "2024"} {
		if start, g, err := ParseTimeSeries(key); !refused(err, "is not an hour, a day or a month") {
			t.Errorf("%q: got %v, %s, %v, want it refused", key, start, g, err)
		}
	}
}

func TestTTL(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want int64
	}{
		{time.Unix(0, 0), 0},
		{time.UnixMilli(1733153445123), 1733153445},
		{time.Date(2024, 12, 31, 23, 59, 59, 0, time.UTC), 1735689599},
		{time.UnixMilli(-1), -1},
	} {
		if got := TTL(c.at); got != c.want {
			t.Errorf("%v: got %d, want %d", c.at, got, c.want)
		}
	}
}

func TestMulti(t *testing.T) {
	for _, c := range []struct {
		name    string
		values  []any
		want    []any
		refused string
	}{
		{"tenant", []any{"TENANT-123", "CUSTOMER-456", "DEPT-A"}, []any{"TENANT-123", "CUSTOMER-456", "DEPT-A"}, ""},
		{"left out at the end", []any{"USA", "CA", nil, nil}, []any{"USA", "CA"}, ""},
		{"milliseconds", []any{"ERROR", int64(1733097600000), "DATABASE"}, []any{"ERROR", int64(1733097600000), "DATABASE"}, ""},
		{"time", []any{"ERROR", time.Date(2025, 12, 2, 0, 0, 0, 0, time.UTC)}, []any{"ERROR", int64(1764633600000)}, ""},
		{"status and priority", []any{"IN_PROGRESS", 2, "USER-123"}, []any{"IN_PROGRESS", 2, "USER-123"}, ""},
		{"version", []any{2, 1, 5, "beta-3"}, []any{2, 1, 5, "beta-3"}, ""},
		{"blank", []any{" ", []byte{0}, 0.5, float32(1)}, []any{" ", []byte{0}, 0.5, float32(1)}, ""},
		{"gap", []any{"USA", nil, "city"}, nil, "the value at index 1 is missing, but other values follow"},
		{"gap at the start", []any{nil, "city"}, nil, "the value at index 0 is missing, but other values follow"},
		{"nothing", nil, nil, "0 values, want 1 to 4"},
		{"only gaps", []any{nil, nil}, nil, "0 values, want 1 to 4"},
		{"five", []any{1, 2, 3, 4, 5}, nil, "5 values, want 1 to 4"},
		{"empty string", []any{"A", ""}, nil, "the value at index 1 is an empty string"},
		{"not UTF-8", []any{"\xff"}, nil, `the value at index 0 is not valid UTF-8: "\xff"`},
		{"no bytes", []any{[]byte{}}, nil, "the value at index 0 has no bytes"},
		{"not a number", []any{math.NaN()}, nil, "a number that DynamoDB cannot store: NaN"},
		{"infinite", []any{math.Inf(-1)}, nil, "a number that DynamoDB cannot store: -Inf"},
		{"too large", []any{1e126}, nil, "a number that DynamoDB cannot store: 1e+126"},
		{"too small", []any{1e-131}, nil, "a number that DynamoDB cannot store: 1e-131"},
		{"zero time", []any{time.Time{}}, nil, "the value at index 0 is the zero time"},
		{"truth", []any{true}, nil, "the value at index 0 is a bool; want a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Multi(c.values...)
			if !reflect.DeepEqual(got, c.want) || (c.refused == "") != (err == nil) || err != nil && !refused(err, c.refused) {
				t.Errorf("got %v, %v, want %v or an error that says %q", got, err, c.want, c.refused)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	as := Attributes{{"tenantId", String}, {"priority", Number}, {"digest", Binary}}
	for _, c := range []struct {
		name               string
		values             []any
		sort, partitioning string // what the errors say
	}{
		{"all", []any{"T", 1, []byte("x")}, "", ""},
		{"the first", []any{"T"}, "", `attribute "priority" has no value`},
		{"the first two", []any{"T", 1.5, nil}, "", `attribute "digest" has no value`},
		{"wrong type", []any{1}, `attribute "tenantId" is a string, but its value 1 is a number`, `its value 1 is a number`},
		{"gap", []any{"T", nil, []byte("x")}, "is missing", "is missing"},
		{"too many", []any{"T", 1, []byte("x"), "more"}, "4 values for 3 attributes", "4 values for 3 attributes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, sort := as.Sort(c.values...)
			_, partition := as.Partition(c.values...)
			for _, e := range []struct {
				err  error
				says string
			}{{sort, c.sort}, {partition, c.partitioning}} {
				if (e.says == "") != (e.err == nil) || e.err != nil && !refused(e.err, e.says) {
					t.Errorf("got %v, want an error that says %q", e.err, e.says)
				}
			}
		})
	}
}

func TestAttributesValidate(t *testing.T) {
	if err := (Attributes{{"a", String}, {"b", Number}, {"c", Binary}, {"d", String}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		attributes Attributes
		says       []string
	}{
		{nil, []string{"0 attributes, want 1 to 4"}},
		{Attributes{{"a", String}, {"b", String}, {"c", String}, {"d", String}, {"e", String}}, []string{"5 attributes, want 1 to 4"}},
		{Attributes{{" ", String}, {"id", 0}, {"id", 9}}, []string{"the attribute at index 0 has no name", `"id" is given twice`, `"id" has the unknown type Type(0)`, "Type(9)"}},
	} {
		for _, says := range c.says {
			if err := c.attributes.Validate(); !refused(err, says) {
				t.Errorf("%v: got %v, want an error that says %s", c.attributes, err, says)
			}
		}
		if values, err := c.attributes.Sort("x"); values != nil || err == nil {
			t.Errorf("%v: got %v, %v, want the attributes refused", c.attributes, values, err)
		}
	}
	if got := fmt.Sprint(String, Number, Binary, Hour, Day, Month); got != "string number binary hour day month" {
		t.Errorf("got %s", got)
	}
}

func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("#", 1<<20)
	_, composite := Composite(long)
	_, _, entity := ParseEntity(strings.Repeat("x", 1<<20))
	for _, err := range []error{composite, entity} {
		if err == nil || len(err.Error()) > 500 {
			t.Errorf("got an error of %d bytes", len(fmt.Sprint(err)))
		}
	}
}
