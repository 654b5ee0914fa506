package scenario

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

const smallest = `title: t
load: [{per-second: 1, keys: {one: a}}]
layouts: [{kind: none}]
`

// Everything that is wrong is refused, with its line and what is allowed.
func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", "the file is empty"},
		"no YAML":               {"a: [", "not YAML"},
		"two documents":         {smallest + "---\n" + smallest, "more than one document"},
		"a list":                {"- a", "line 1: a scenario: want fields: name, title, about"},
		"an unknown field":      {smallest + "tabel: {}\n", `line 4: a scenario has no field "tabel"; its fields are name, title`},
		"an unknown subfield":   {smallest + "table:\n  partition: 4\n", `line 5: table has no field "partition"; its fields are capacity, write-units`},
		"twice":                 {smallest + "seed: 1\nseed: 2\n", `line 5: field "seed" is there twice`},
		"an unknown word":       {strings.Replace(smallest, "none", "nonsense", 1), `line 3: layouts[0].kind is "nonsense", want none, naive,`},
		"a wrong type":          {smallest + "table: {partitions: many}\n", `line 4: table.partitions: "many" is not a whole number`},
		"a wrong duration":      {smallest + "duration: 3 minutes\n", `line 4: duration: "3 minutes" is not a duration: write it as 500ms`},
		"a wrong size":          {strings.Replace(smallest, "per-second: 1", "size: big, per-second: 1", 1), `line 2: load[0].size: "big" is not a size`},
		"a wrong time":          {smallest + "start: today\n", `"today" is not a time: write it as 2026-`},
		"a seed of 65 bits":     {smallest + "seed: 18446744073709551616\n", `line 4: seed: "18446744073709551616" is too large`},
		"no seed":               {smallest + "seed: ~\n", "line 4: seed has no value: give it one, or leave it out"},
		"a negative seed":       {smallest + "seed: -1\n", `line 4: seed: "-1" is below 0`},
		"far too long":          {smallest + "duration: 99999999h\n", `line 4: duration: "99999999h" is too long: want 168h at most`},
		"a huge size":           {strings.Replace(smallest, "per-second: 1", "size: 3000000MB, per-second: 1", 1), "line 2: load[0].size: is 3000000MB, want 1B to 400KB"},
		"beyond the quota":      {smallest + "table: {capacity: provisioned, write-units: 50000, read-units: 1}\n", "line 4: table.write-units: is 50000, and a table has up to 40000 by default: for an account whose quota was raised, set no-quota: true"},
		"indexes beyond it":     {smallest + "table: {capacity: provisioned, write-units: 1, read-units: 30000, indexes: [{name: a}, {name: b}]}\n", "table.read-units: is 30000, thus 90000 with the table's indexes, and an account has up to 80000"},
		"two of one name":       {smallest + "table: {indexes: [{name: a}, {name: b}, {name: a}]}\n", `line 4: table.indexes[2].name: is "a", as that of another index`},
		"a long field":          {smallest + strings.Repeat("x", 1000) + ": 1\n", `x"… (1000 bytes); its fields are`},
		"a half partition":      {smallest + "table: {partitions: 1.5}\n", `line 4: table.partitions: "1.5" is not a whole number`},
		"too large by far":      {smallest + "table: {warm-write-units: 1e19}\n", `table.warm-write-units: "1e19" is too large`},
		"an endless number":     {smallest + "client: {processes: .inf}\n", `client.processes: ".inf" is too large`},
		"a load of nothing":     {strings.Replace(smallest, "per-second: 1", "per-second: 1, ramp: ~", 1), "load[0].ramp has no value"},
		"an alias":              {"title: &a t\nabout: *a\n", "anchors and aliases are not supported"},
		"no load":               {"title: t\nlayouts: [{kind: none}]\n", "load: there are 0, want 1 to 16"},
		"no title":              {strings.Replace(smallest, "title: t\n", "", 1), "title: say in one line"},
		"no rate":               {strings.Replace(smallest, "per-second: 1, ", "", 1), "line 2: load[0]: say how much it is by one of per-second, ramp and steps"},
		"two rates":             {strings.Replace(smallest, "per-second: 1", "per-second: 1, ramp: {from: 1, to: 2, over: 1s}", 1), "by one of"},
		"not a number":          {strings.Replace(smallest, "per-second: 1", "per-second: .nan", 1), "load[0].per-second: is NaN"},
		"no keys":               {strings.Replace(smallest, "{one: a}", "{}", 1), "load[0].keys: want one of one, uniform, zipf"},
		"too much":              {strings.Replace(smallest, "{one: a}", "{listed: {shares: [{key: a, share: 0.8}, {key: b, share: 0.8}]}}", 1), "add up to 1.6, want 1"},
		"too many keys":         {strings.Replace(smallest, "{one: a}", "{uniform: {count: 1000000000}}", 1), "is 1000000000, want 1 to 100000000"},
		"too long":              {smallest + "duration: 10000h\n", "duration: is 10000h, want 1s to 168h"},
		"shards of no shards":   {strings.Replace(smallest, "none", "none, shards: 3", 1), "none has no shards"},
		"no shards":             {strings.Replace(smallest, "none", "fixed", 1), "layouts[0].shards: is 0, want 1 to 1024"},
		"provisioned nothing":   {smallest + "table: {capacity: provisioned}\n", "table.write-units: is 0, want 1 to"},
		"on demand, units":      {smallest + "table: {write-units: 5}\n", "is for a provisioned table: set capacity: provisioned, or warm-write-units"},
		"steps back":            {strings.Replace(smallest, "per-second: 1", "steps: [{at: 5s, per-second: 1}, {at: 4s, per-second: 2}]", 1), "want a later time than the step before"},
		"no size":               {strings.Replace(smallest, "per-second: 1", "per-second: 1, size: 0", 1), "line 2: load[0].size: is 0, which is no value for it: leave it out for 1KB"},
		"no time":               {smallest + "duration: 0s\n", "line 4: duration: is 0, which is no value for it: leave it out for 30s"},
		"no factor":             {strings.Replace(smallest, "none", "none, load-factor: 0", 1), "layouts[0].load-factor: is 0, which is no value"},
		"no name":               {strings.Replace(smallest, "none", "none, name: ''", 1), "layouts[0].name: is empty, which is no value for it: leave it out for one key"},
		"too many places":       {smallest + "table:\n  indexes: [{name: a, keys: 1000000}, {name: b, keys: 10, shards: 1024}]\n", "line 5: table.indexes: they have 1010240 keys with their shards, want 1000000 at most"},
		"heatsink without it":   {strings.Replace(smallest, "none", "none, retries: heatsink", 1), "is written without heatsink: want sdk or none"},
		"a crowd after the end": {"title: t\nduration: 1m\nload: [{per-second: 1, keys: {flash: {key: k, share: 0.5, at: 200s, for: 5s, count: 3}}}]\nlayouts: [{kind: none}]\n", "load[0].keys.flash.at: is 3m20s, but the run ends after 1m2s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.yaml") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// An error lists ten faults at most: a file may have a hundred thousand.
func TestParseListsTenFaults(t *testing.T) {
	var text strings.Builder
	text.WriteString(smallest)
	for i := range 40_000 {
		fmt.Fprintf(&text, "field%d: 1\n", i)
	}
	_, err := Parse("x.yaml", []byte(text.String()))
	if err == nil || len(err.Error()) > 3000 || !strings.Contains(err.Error(), `line 4: a scenario has no field "field0"`) || !strings.HasSuffix(err.Error(), "\nx.yaml: and 39990 more") {
		t.Errorf("got %.3000v", err)
	}
}

func TestParseFillsDefaults(t *testing.T) {
	s, err := Parse("dir/mine.yaml", []byte(smallest))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "mine" || s.Seed != 1 || s.Total() != 32*time.Second || s.Mode != Requests || s.Table.Capacity != OnDemand {
		t.Errorf("got %+v", s)
	}
	if l := s.Load[0]; l.Operation != Write || l.WriteUnits() != 1 || l.ReadUnits() != 0 || l.Items != Rising {
		t.Errorf("got %+v", l)
	}
	if l := s.Layouts[0]; l.Name != "one key" || l.Retries != SDK || l.LoadFactor != 1 {
		t.Errorf("got %+v", l)
	}
}

// A zero that means something is no missing value, also when the scenario is written and read again.
func TestParseKeepsZeros(t *testing.T) {
	s, err := Parse("mine.yaml", []byte("title: t\nseed: 0\nrun-in: 0s\nload: [{per-second: 1, keys: {date: {prefix: '', period: day}}}]\nlayouts: [{kind: none}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s.Seed != 0 || s.RunIn != 0 || s.Load[0].Keys.Date.Prefix != "" {
			t.Errorf("got %+v", s)
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if s, err = Parse("mine.yaml", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// A scenario that is written and read again is the same: its YAML says everything.
func TestFilesAreWhole(t *testing.T) {
	if len(Files()) < 10 {
		t.Fatalf("got %d scenarios", len(Files()))
	}
	for _, name := range Files() {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(name+".yaml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if twice, _ := again.YAML(); twice != text {
			t.Errorf("%s: got\n%s\nwant\n%s", name, twice, text)
		}
		if s.About == "" {
			t.Errorf("%s does not say what it is about", name)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), "there are adaptive, cardinality") {
		t.Errorf("got %v", err)
	}
}

// Whatever is in a file, Parse returns: a scenario that is within its bounds, or an error.
func FuzzParse(f *testing.F) {
	f.Add(smallest)
	for _, name := range Files() {
		text, err := Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("title: &a [*a, *a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("fuzz.yaml", []byte(text))
		if err != nil {
			return
		}
		if len(s.Load) == 0 || len(s.Layouts) == 0 || s.Total() <= 0 || s.Total() > 2*MaxDuration {
			t.Errorf("got %+v", s)
		}
		for i := range s.Load {
			if peak := s.Load[i].Peak(); !(peak > 0 && peak <= MaxPerSecond) {
				t.Errorf("the peak is %v", peak)
			}
		}
		written, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("fuzz.yaml", []byte(written)); err != nil {
			t.Errorf("%v\n%s", err, written)
		}
	})
}

// The scenario in docs/lab.md is one, and the tables there name every field and word.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	if _, err := Parse("lab.md", []byte(example)); err != nil {
		t.Error(err)
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[Table](), reflect.TypeFor[Index](), reflect.TypeFor[Load](), reflect.TypeFor[Keys](), reflect.TypeFor[Layout](), reflect.TypeFor[Client](),
	} {
		for _, field := range fieldsOf(of) {
			if !regexp.MustCompile("`[^`]*\\b"+field+"\\b[^`]*`").Match(text) && field != "name" {
				t.Errorf("docs/lab.md does not name the field %s of %s", field, of)
			}
		}
	}
	for _, list := range words {
		for _, word := range list {
			if !strings.Contains(string(text), "`"+word+"`") {
				t.Errorf("docs/lab.md does not name %s", word)
			}
		}
	}
}
