package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func TestReadMocha(t *testing.T) {
	r, err := readMocha([]byte(`{"stats":{"tests":5,"passes":3,"pending":1},"failures":[{"fullTitle":"a b"}],"pending":[{"fullTitle":"c"}]}`))
	if err != nil || r.Tests != 5 || r.Passed != 3 || r.Skipped != 1 || !slices.Equal(slices.Collect(maps.Keys(r.Failed)), []string{"a b"}) {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, text := range []string{"<html>", `{"stats":{"passes":0}}`} {
		if _, err := readMocha([]byte(text)); err == nil {
			t.Errorf("%s: got no error", text)
		}
	}
}

func TestReadJUnit(t *testing.T) {
	r, err := readJUnit([]byte(`<testsuites><testsuite><testcase classname="test.alternator.test_gsi" name="test_a"/>
		<testcase classname="test.alternator.test_gsi" name="test_b"><failure/></testcase><testcase classname="test_c" name="d"><error/></testcase>
		<testcase classname="e" name="f"><skipped/></testcase></testsuite></testsuites>`))
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(r.Failed)); r.Tests != 4 || r.Passed != 1 || r.Skipped != 1 || !slices.Equal(got, []string{"test_c::d", "test_gsi::test_b"}) {
		t.Errorf("got %+v", r)
	}
	r, err = readJUnit([]byte(`<testsuites><testcase name="one" classname="test"/><testsuite name="a"><testsuite name="b"><testcase name="two" classname="test"/></testsuite></testsuite></testsuites>`))
	if err != nil || r.Tests != 2 || r.Passed != 2 {
		t.Errorf("got %+v, %v, want tests at any depth", r, err)
	}
	if _, err := readJUnit([]byte("{}")); err == nil {
		t.Error("no error for a report that is none")
	}
}

func TestExcuses(t *testing.T) {
	for test, s := range map[string]*otherSuite{
		"test_health::test_health_works":                               &otherSuites[0],
		"dynalite connections should set CORS if OPTIONS":              &otherSuites[1],
		"test_dynamodb_resource_policy::test_put_resource_policy":      &otherSuites[2],
		"TestDynamoDB::test_return_values_on_conditions_check_failure": &otherSuites[3],
		"test::a provisioned table keeps its indexes":                  &programs[3],
	} {
		if s.explain(test) == "" {
			t.Errorf("%s: %s, which is known to fail, is not explained", s.name, test)
		}
		if got := s.explain("a test that nobody wrote"); got != "" {
			t.Errorf("%s: everything is explained, by %q", s.name, got)
		}
	}
}

// These suites may be missing: the first one is what must be shown.
func TestWithoutOtherSuites(t *testing.T) {
	var out bytes.Buffer
	p := &proof{Board: scenario.New(&out), work: t.TempDir()}
	scenario.Show(t.Context(), &p.Board, p, scenarios[1])
	holds := p.End(&out, p)
	for _, s := range otherSuites {
		if !holds || !strings.Contains(out.String(), "not run: set "+s.variable) {
			t.Errorf("%s: got %s", s.name, out.String())
		}
	}
}
