package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// adaptors let other people's tests run on the engine as they are.
//
//go:embed adaptor
var adaptors embed.FS

// otherSuite is tests that run on an engine of ours: a public suite that its authors ran on AWS, or the tests of a program. Some expect
// what AWS does not do as well: the old, and what another engine does.
type otherSuite struct {
	name    string
	program string // of which these are tests, with its version; nothing: the checkout says so
	needs   []*shelf
	*checkout
	flags   []string // of heatsink serve
	least   int      // tests that it has; with fewer, something did not run
	whole   bool     // no test may be skipped
	prints  bool     // the report is what the last command prints
	command func(b *bench) []*exec.Cmd
	read    func(text []byte) (*otherResult, error)
	excuses []excuse
}

// checkout is somebody's repository, of which the user has a copy.
type checkout struct {
	source   string
	variable string // of the Makefile
	dir      func(*proof) string
}

// bench is where the tests of a suite run.
type bench struct {
	*proof
	dir      string // the checkout, if there is one
	adaptor  string // directory of what lets tests run as they are, and of our own tests
	report   string // file that the report goes to
	endpoint string // of the engine
}

// excuse is why some tests of a suite fail: those whose names match.
type excuse struct{ tests, reason string }

// otherResult is how such a suite ended.
type otherResult struct {
	Suite   string            `json:"suite"`
	Program string            `json:"program,omitempty"`
	Commit  string            `json:"commit,omitempty"`
	Tests   int               `json:"tests"`
	Passed  int               `json:"passed"`
	Skipped int               `json:"skipped"`
	Failed  map[string]string `json:"failed"` // tests, and why each failed as far as that is known
}

var otherSuites = []otherSuite{
	{
		name: "alternator", least: 1500, excuses: alternatorExcuses,
		checkout: &checkout{"scylladb/scylladb", "ALTERNATOR", func(p *proof) string { return p.alternator }},
		flags:    []string{"--cors", "*"},
		command: func(b *bench) []*exec.Cmd {
			return b.pytestOfCheckout([]string{"ALTERNATOR=" + b.dir}, "-p", "alternator_adaptor",
				"--confcutdir", "test/alternator", "--aws", "--runxfail", "--ignore-glob", "*test_cql_*", "test/alternator")
		},
		read: readJUnit,
	},
	{
		name: "dynalite", least: 1050, excuses: dynaliteExcuses,
		checkout: &checkout{"architect/dynalite", "DYNALITE", func(p *proof) string { return p.dynalite }},
		flags:    []string{"--account", "123456789012", "--status-delay", "300ms"},
		command: func(b *bench) []*exec.Cmd {
			cmd := b.mocha(b.dir, "--require", "should", "--require", filepath.Join(b.adaptor, "dynalite.cjs"), "-t", "300s", "--exit")
			cmd.Env = append(os.Environ(), "ENGINE="+strings.TrimPrefix(b.endpoint, "http://"))
			return []*exec.Cmd{cmd}
		},
		read: readMocha,
	},
	{
		name: "moto", least: 170, excuses: motoExcuses,
		checkout: &checkout{"getmoto/moto", "MOTO", func(p *proof) string { return p.moto }},
		flags:    []string{"--account", "123456789012"},
		command: func(b *bench) []*exec.Cmd {
			return b.pytestOfCheckout([]string{"MOTO_TEST_ALLOW_AWS_REQUEST=true"},
				"-p", "moto_adaptor", "tests/test_dynamodb", "tests/test_dynamodbstreams")
		},
		read: readJUnit,
	},
	{
		name: "localstack", least: 40, excuses: localStackExcuses,
		checkout: &checkout{"localstack/localstack", "LOCALSTACK", func(p *proof) string { return p.localStack }},
		flags:    []string{"--account", "123456789012"},
		command: func(b *bench) []*exec.Cmd {
			return b.pytestOfCheckout([]string{"TEST_TARGET=AWS_CLOUD", "LOCALSTACK=" + b.dir},
				"-p", "localstack_snapshot.pytest.snapshot", "-p", "localstack_adaptor", "--confcutdir", "tests/aws/services",
				"tests/aws/services/dynamodb", "tests/aws/services/dynamodbstreams")
		},
		read: readJUnit,
	},
}

// pytestOfCheckout is the command of a checkout's own tests in Python, which runs in the checkout.
func (b *bench) pytestOfCheckout(env []string, args ...string) []*exec.Cmd {
	cmd := b.pytest(b.python, append([]string{"--rootdir", b.dir, "--disable-warnings"}, args...)...)
	cmd.Env = append(append(cmd.Env, env...), "PYTHONPATH="+b.adaptor+string(os.PathListSeparator)+b.dir,
		"AWS_ACCESS_KEY_ID=alternator", "AWS_SECRET_ACCESS_KEY=secret_pass")
	return []*exec.Cmd{cmd}
}

// showSuites runs the other public suites, those of which there is a checkout.
func showSuites(ctx context.Context, p *proof) error { return p.showTests(ctx, otherSuites, &p.Others) }

// showTests runs suites one after another, and tells what did not run.
func (p *proof) showTests(ctx context.Context, suites []otherSuite, into *[]*otherResult) error {
	if err := os.CopyFS(p.work, adaptors); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for i := range suites {
		s := &suites[i]
		if s.checkout != nil && s.dir(p) == "" {
			p.Tell(s.name, "not run: set "+s.variable+" to a checkout of https://github.com/"+s.source)
			continue
		}
		if err := s.fetch(ctx, p); err != nil {
			p.Must(s.name, "not run: "+err.Error(), "it runs", false)
			continue
		}
		r, err := s.run(ctx, p)
		if err != nil {
			p.Check(false, "%s: %v", s.name, err)
			continue
		}
		*into = append(*into, r)
		s.show(p, r)
	}
	return nil
}

// fetch gets the packages that the tests need.
func (s *otherSuite) fetch(ctx context.Context, p *proof) error {
	for _, needed := range s.needs {
		if err := needed.fill(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// show tells how the tests ended.
func (s *otherSuite) show(p *proof, r *otherResult) {
	what := r.Program
	if s.checkout != nil {
		what = strings.TrimPrefix(r.Program+", ", ", ") + s.source + " at " + r.Commit
	}
	failed := r.Tests - r.Passed - r.Skipped
	p.Tell(s.name, fmt.Sprintf("%s: %d of %d passed, %d skipped, %d failed", what, r.Passed, r.Tests, r.Skipped, failed))
	p.Must(s.name+": tests", strconv.Itoa(r.Tests), fmt.Sprintf(">= %d", s.least), r.Tests >= s.least)
	if s.whole {
		p.None(s.name+": tests that are skipped", r.Skipped, r.Tests)
	}
	unexplained := 0
	for name, reason := range r.Failed {
		if reason == "" {
			unexplained++
			p.Must("fails without a reason", name, "a reason, or none", false)
		}
	}
	p.None(s.name+": failures without a reason", unexplained, r.Tests)
}

// run runs a suite on an engine of its own.
func (s *otherSuite) run(ctx context.Context, p *proof) (r *otherResult, err error) {
	b := &bench{proof: p, adaptor: filepath.Join(p.work, "adaptor"), report: filepath.Join(p.work, s.name+".report")}
	where := p.work
	if s.checkout != nil {
		if b.dir, err = filepath.Abs(s.dir(p)); err != nil {
			return nil, err
		}
		where = b.dir
	}
	built, err := p.heatsink(ctx)
	if err != nil {
		return nil, err
	}
	program := built.Argv("0")[0]
	server, err := peer.Serve(ctx, func(port string) []string {
		return append([]string{program, "serve", "--addr", "127.0.0.1:" + port}, s.flags...)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	b.endpoint = "http://" + server.Addr
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	var out, printed bytes.Buffer
	var failed error // if a test does; the report says more
	for _, made := range s.command(b) {
		cmd := exec.CommandContext(ctx, made.Args[0], made.Args[1:]...)
		cmd.Dir, cmd.Env = cmp.Or(made.Dir, where), made.Env
		out.Reset()
		printed.Reset()
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, &printed), &out
		cmd.WaitDelay = 10 * time.Second // for what a killed command has left behind
		failed = cmd.Run()
	}
	text := printed.Bytes()
	if !s.prints {
		if text, err = os.ReadFile(b.report); err != nil {
			return nil, fmt.Errorf("no report: %w:\n%s", errors.Join(failed, err), scenario.End(out.String()))
		}
	}
	if r, err = s.read(text); err != nil {
		return nil, fmt.Errorf("its report: %w:\n%s", err, scenario.End(out.String()))
	}
	r.Suite, r.Program = s.name, s.program
	if s.checkout != nil {
		r.Program, r.Commit = cmp.Or(s.program, packageIn(b.dir)), commitOf(ctx, b.dir)
	}
	for name := range r.Failed {
		r.Failed[name] = s.explain(name)
	}
	return r, nil
}

// packageIn is the name and version of the npm package that a checkout has, if it is one.
func packageIn(dir string) string {
	var manifest struct{ Name, Version string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return manifest.Name + " " + manifest.Version
}

// environment is that of every program that talks to the engine: without the settings that the user has for AWS, and without a proxy.
func (b *bench) environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	env = append(env, "AWS_ENDPOINT_URL="+b.endpoint, "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	return append(env, more...)
}

// pytest is the command of tests in Python.
func (b *bench) pytest(python string, args ...string) *exec.Cmd {
	cmd := exec.Command(python, append([]string{"-m", "pytest", "-p", "no:cacheprovider", "-c", os.DevNull, "-q", "--junitxml", b.report}, args...)...)
	cmd.Env = b.environment("PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// mocha is the command of tests in JavaScript, with the mocha of a directory.
func (b *bench) mocha(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("node", append([]string{
		filepath.Join(dir, "node_modules", "mocha", "bin", "mocha.js"),
		"--reporter", "json", "--reporter-option", "output=" + b.report,
	}, args...)...)
	cmd.Env = b.environment()
	return cmd
}

// explain returns why a test fails, nothing if that is unknown.
func (s *otherSuite) explain(test string) string {
	for _, e := range s.excuses {
		if regexp.MustCompile(e.tests).MatchString(test) {
			return e.reason
		}
	}
	return ""
}

// readMocha reads the JSON of mocha.
func readMocha(text []byte) (*otherResult, error) {
	var report struct {
		Stats             struct{ Tests, Passes, Pending int }
		Failures, Pending []struct{ FullTitle string }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, err
	}
	if report.Stats.Passes == 0 {
		return nil, errors.New("no test passed")
	}
	r := &otherResult{Tests: report.Stats.Tests, Passed: report.Stats.Passes, Skipped: report.Stats.Pending, Failed: map[string]string{}}
	for _, f := range report.Failures {
		r.Failed[f.FullTitle] = ""
	}
	return r, nil
}

// readJUnit reads the XML of pytest and of Node.js, which has suites within suites.
func readJUnit(text []byte) (*otherResult, error) {
	r := &otherResult{Failed: map[string]string{}}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			continue
		}
		var c struct {
			Class   string    `xml:"classname,attr"`
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		}
		if err := decoder.DecodeElement(&c, &start); err != nil {
			return nil, err
		}
		r.Tests++
		switch {
		case c.Failure != nil || c.Error != nil:
			r.Failed[c.Class[strings.LastIndexByte(c.Class, '.')+1:]+"::"+c.Name] = ""
		case c.Skipped != nil:
			r.Skipped++
		default:
			r.Passed++
		}
	}
	if r.Passed == 0 {
		return nil, errors.New("no test passed")
	}
	return r, nil
}

// readGoTest reads what go test -json prints. A package whose tests did not run counts as a test that failed.
func readGoTest(text []byte) (*otherResult, error) {
	r := &otherResult{Failed: map[string]string{}}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var event struct {
			Action, Package, Test string
			FailedBuild           string
		}
		err := decoder.Decode(&event)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if event.Test == "" && event.FailedBuild == "" {
			continue
		}
		switch event.Action {
		case "pass":
			r.Passed++
		case "skip":
			r.Skipped++
		case "fail":
			r.Failed[strings.TrimSpace(event.Package+" "+event.Test)] = ""
		default:
			continue
		}
		r.Tests++
	}
	if r.Passed == 0 {
		return nil, errors.New("no test passed")
	}
	return r, nil
}
