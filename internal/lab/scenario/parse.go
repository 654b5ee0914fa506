package scenario

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// MaxFile is the largest file that Parse reads.
const MaxFile = 1 << 20

// Parse reads a scenario from YAML, fills in the defaults and checks it. name is that of the file, for errors and if the
// scenario has none. The error lists the first ten things that are wrong, each with its line.
func Parse(name string, text []byte) (Scenario, error) {
	var s Scenario
	if len(text) > MaxFile {
		return s, fmt.Errorf("%s: the file has %d bytes, and a scenario at most %d", name, len(text), MaxFile)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%s: the file is empty: see heatsink lab show throughput for a scenario", name)
	} else if err != nil {
		return s, fmt.Errorf("%s: not YAML: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%s: there is more than one document: give each scenario a file of its own", name)
	}
	s, faults := read(document.Content[0], name)
	return s, joined(faults, name+": ", func(f fault) error { return fmt.Errorf("%s, line %d: %s", name, f.line, f.text) })
}

// mostFaults is how many faults an error lists.
const mostFaults = 10

// joined returns an error with the first faults, and how many more there are.
func joined(faults []fault, prefix string, each func(fault) error) error {
	var errs []error
	for _, f := range faults[:min(len(faults), mostFaults)] {
		errs = append(errs, each(f))
	}
	if more := len(faults) - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("%sand %d more", prefix, more))
	}
	return errors.Join(errs...)
}

// Complete is Parse for a scenario that does not come from a file: it fills in the defaults, and checks it. The error names
// fields as load[0].size, without lines.
func Complete(s Scenario) (Scenario, error) {
	text, err := s.YAML()
	if err != nil {
		return s, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return s, err
	}
	s, faults := read(document.Content[0], s.Name)
	return s, joined(faults, "", func(f fault) error { return errors.New(f.text) })
}

// read reads a scenario, fills in the defaults and checks it. Faults are in the order of their lines.
func read(node *yaml.Node, name string) (Scenario, []fault) {
	var s Scenario
	r := reader{lines: map[string]int{}}
	r.read(node, reflect.ValueOf(&s).Elem(), "")
	if s.Name == "" {
		s.Name = strings.TrimSuffix(baseName(name), ".yaml")
	}
	if len(r.faults) == 0 { // the rest would repeat what was wrong with single fields
		r.fill(&s)
		r.check(&s)
	}
	slices.SortStableFunc(r.faults, func(a, b fault) int { return a.line - b.line })
	return s, r.faults
}

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// YAML returns the scenario as a file that Parse reads.
func (s Scenario) YAML() (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(s); err != nil {
		return "", err
	}
	return b.String(), encoder.Close()
}

// reader reads YAML into Go values, strictly. It knows the line of everything that it has read.
type reader struct {
	lines  map[string]int // by path, such as load[0].keys
	faults []fault
}

type fault struct {
	line int
	text string
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fault{line, fmt.Sprintf(format, args...)})
}

// at adds a fault of the field at a path, or of what encloses it if it is not in the file.
func (r *reader) at(path, format string, args ...any) {
	for up := path; ; {
		if line, ok := r.lines[up]; ok || up == "" {
			r.fault(max(line, 1), "%s: %s", path, fmt.Sprintf(format, args...))
			return
		}
		up = up[:max(strings.LastIndexAny(up, ".["), 0)]
	}
}

// read reads a node into a value.
func (r *reader) read(node *yaml.Node, into reflect.Value, path string) {
	r.lines[path] = node.Line
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		r.fault(node.Line, "%s: anchors and aliases are not supported: write the value out", orFile(path))
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		r.read(node, into.Elem(), path)
	case into.Kind() == reflect.Slice:
		r.readList(node, into, path)
	case into.Kind() == reflect.Struct && into.Type() != reflect.TypeFor[Moment]():
		r.readFields(node, into, path)
	case node.Kind != yaml.ScalarNode:
		r.fault(node.Line, "%s: want a single value", orFile(path))
	default:
		r.readValue(node, into, path)
	}
}

func (r *reader) readList(node *yaml.Node, into reflect.Value, path string) {
	if node.Kind != yaml.SequenceNode {
		r.fault(node.Line, "%s: want a list, whose entries begin with a dash", path)
		return
	}
	list := reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content))
	for i, entry := range node.Content {
		r.read(entry, list.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	into.Set(list)
}

func (r *reader) readFields(node *yaml.Node, into reflect.Value, path string) {
	known := fieldsOf(into.Type())
	if node.Kind != yaml.MappingNode {
		r.fault(node.Line, "%s: want fields: %s", orFile(path), strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		at := slices.Index(known, name.Value)
		switch {
		case at < 0:
			r.fault(name.Line, "%s has no field %s; its fields are %s", orFile(path), quote.Text(name.Value), strings.Join(known, ", "))
		case seen[name.Value]:
			r.fault(name.Line, "field %q is there twice", name.Value)
		default:
			seen[name.Value] = true
			if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" {
				r.fault(value.Line, "%s has no value: give it one, or leave it out", strings.TrimPrefix(path+"."+name.Value, "."))
				continue
			}
			r.read(value, into.Field(at), strings.TrimPrefix(path+"."+name.Value, "."))
		}
	}
}

func orFile(path string) string {
	if path == "" {
		return "a scenario"
	}
	return path
}

// fieldsOf returns the names of a struct's fields in YAML, in their order.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
	}
	return names
}

// readValue reads a single value. Words of a few are checked here, so that the error can list them.
func (r *reader) readValue(node *yaml.Node, into reflect.Value, path string) {
	if allowed := words[into.Type()]; allowed != nil && !slices.Contains(allowed, node.Value) {
		r.fault(node.Line, "%s is %s, want %s", path, quote.Text(node.Value), oneOf(allowed))
		return
	}
	if isWhole(into) && !r.checkWhole(node, into, path) {
		return
	}
	if err := node.Decode(into.Addr().Interface()); err != nil {
		text := err.Error()
		if strings.Contains(text, "cannot unmarshal") {
			text = fmt.Sprintf("%s is not %s", quote.Text(node.Value), typeName(into.Kind()))
		}
		r.fault(node.Line, "%s: %s", path, strings.TrimPrefix(text, "yaml: "))
	}
}

// isWhole reports whether a value is a whole number in YAML. Durations and sizes are texts.
func isWhole(into reflect.Value) bool {
	_, text := into.Addr().Interface().(encoding.TextUnmarshaler)
	return !text && (into.CanInt() || into.CanUint())
}

// checkWhole refuses what YAML would cut down to a whole number: a fraction, or a number that is too large for its type.
func (r *reader) checkWhole(node *yaml.Node, into reflect.Value, path string) bool {
	if node.ShortTag() == "!!int" {
		if negative := strings.HasPrefix(node.Value, "-"); into.CanUint() && negative {
			r.fault(node.Line, "%s: %s is below 0", path, quote.Text(node.Value))
			return false
		}
		return true
	}
	if node.ShortTag() != "!!float" {
		return true
	}
	const exact = 1 << 53
	n := math.NaN()
	if err := node.Decode(&n); err == nil && n == math.Trunc(n) && math.Abs(n) <= exact {
		return true
	}
	if math.Abs(n) > exact {
		r.fault(node.Line, "%s: %s is too large", path, quote.Text(node.Value))
	} else {
		r.fault(node.Line, "%s: %s is not a whole number", path, quote.Text(node.Value))
	}
	return false
}

func typeName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	default:
		return "a whole number"
	}
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

var words = map[reflect.Type][]string{
	reflect.TypeFor[Mode]():      {string(Requests), string(Aggregate)},
	reflect.TypeFor[Capacity]():  {string(OnDemand), string(Provisioned)},
	reflect.TypeFor[Operation](): {string(Write), string(Read)},
	reflect.TypeFor[Items]():     {string(Rising), string(Random), string(One)},
	reflect.TypeFor[Retries]():   {string(SDK), string(Heatsink), string(NoRetry)},
	reflect.TypeFor[Kind]():      {string(None), string(Naive), string(Calculated), string(Fixed), string(Adaptive), string(Bucketed), string(BucketAnd)},
}
