package main

import (
	"context"
	"embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// otherSuite is a public suite that was run on AWS by its authors, and expects what AWS does not do as well: the old, and what its own
// engine does.
type otherSuite struct {
	name, source string
	variable     string // of the Makefile
	least        int    // tests that it has; with fewer, something did not run
	dir          func(*proof) string
	flags        []string // of heatsink serve
	command      func(p *proof, dir, adaptor, report, addr string) *exec.Cmd
	read         func(text []byte) (*otherResult, error)
	excuses      []excuse
}

// excuse is why some tests of a suite fail: those whose names match.
type excuse struct{ tests, reason string }

// otherResult is how such a suite ended.
type otherResult struct {
	Suite   string            `json:"suite"`
	Commit  string            `json:"commit"`
	Tests   int               `json:"tests"`
	Passed  int               `json:"passed"`
	Skipped int               `json:"skipped"`
	Failed  map[string]string `json:"failed"` // tests, and why each failed as far as that is known
}

var otherSuites = []otherSuite{
	{
		name: "alternator", source: "scylladb/scylladb", variable: "ALTERNATOR", least: 1500, excuses: alternatorExcuses,
		dir:   func(p *proof) string { return p.alternator },
		flags: []string{"--cors", "*"},
		command: func(p *proof, dir, adaptor, report, addr string) *exec.Cmd {
			return p.pytest(dir, adaptor, report, addr, []string{"ALTERNATOR=" + dir}, "-p", "alternator_adaptor",
				"--confcutdir", "test/alternator", "--aws", "--runxfail", "--ignore-glob", "*test_cql_*", "test/alternator")
		},
		read: readJUnit,
	},
	{
		name: "dynalite", source: "architect/dynalite", variable: "DYNALITE", least: 1050, excuses: dynaliteExcuses,
		dir:   func(p *proof) string { return p.dynalite },
		flags: []string{"--account", "123456789012", "--status-delay", "300ms"},
		command: func(_ *proof, dir, adaptor, report, addr string) *exec.Cmd {
			cmd := exec.Command("node", filepath.Join(dir, "node_modules", "mocha", "bin", "mocha.js"), "--require", "should",
				"--require", filepath.Join(adaptor, "dynalite.cjs"), "--reporter", "json", "--reporter-option", "output="+report, "-t", "300s", "--exit")
			cmd.Env = append(os.Environ(), "ENGINE="+addr)
			return cmd
		},
		read: readMocha,
	},
	{
		name: "moto", source: "getmoto/moto", variable: "MOTO", least: 170, excuses: motoExcuses,
		dir:   func(p *proof) string { return p.moto },
		flags: []string{"--account", "123456789012"},
		command: func(p *proof, dir, adaptor, report, addr string) *exec.Cmd {
			return p.pytest(dir, adaptor, report, addr, []string{"MOTO_TEST_ALLOW_AWS_REQUEST=true"},
				"-p", "moto_adaptor", "tests/test_dynamodb", "tests/test_dynamodbstreams")
		},
		read: readJUnit,
	},
	{
		name: "localstack", source: "localstack/localstack", variable: "LOCALSTACK", least: 40, excuses: localStackExcuses,
		dir:   func(p *proof) string { return p.localStack },
		flags: []string{"--account", "123456789012"},
		command: func(p *proof, dir, adaptor, report, addr string) *exec.Cmd {
			return p.pytest(dir, adaptor, report, addr, []string{"TEST_TARGET=AWS_CLOUD", "LOCALSTACK=" + dir},
				"-p", "localstack_snapshot.pytest.snapshot", "-p", "localstack_adaptor", "--confcutdir", "tests/aws/services",
				"tests/aws/services/dynamodb", "tests/aws/services/dynamodbstreams")
		},
		read: readJUnit,
	},
}

// pytest runs tests in Python, from the directory of a checkout.
func (p *proof) pytest(dir, adaptor, report, addr string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.python, append([]string{
		"-m", "pytest", "-p", "no:cacheprovider", "-c", os.DevNull, "--rootdir", dir, "-q", "--disable-warnings", "--junitxml", report,
	}, args...)...)
	cmd.Env = append(append(os.Environ(), env...), "PYTHONPATH="+adaptor+string(os.PathListSeparator)+dir, "AWS_ENDPOINT_URL=http://"+addr,
		"AWS_ACCESS_KEY_ID=alternator", "AWS_SECRET_ACCESS_KEY=secret_pass", "AWS_DEFAULT_REGION=us-east-1", "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// showSuites runs the other public suites, those of which there is a checkout.
func showSuites(ctx context.Context, p *proof) error {
	adaptor := filepath.Join(p.work, "adaptor")
	if err := os.CopyFS(p.work, adaptors); err != nil {
		return err
	}
	for i := range otherSuites {
		s := &otherSuites[i]
		if s.dir(p) == "" {
			p.Tell(s.name, "not run: set "+s.variable+" to a checkout of https://github.com/"+s.source)
			continue
		}
		r, err := s.run(ctx, p, adaptor)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		p.Others = append(p.Others, r)
		p.Tell(s.name, fmt.Sprintf("%s at %s: %d passed, %d skipped, %d failed", s.source, r.Commit, r.Passed, r.Skipped, r.Tests-r.Passed-r.Skipped))
		p.Must(s.name+": tests", strconv.Itoa(r.Tests), fmt.Sprintf(">= %d", s.least), r.Tests >= s.least)
		unexplained := 0
		for name, reason := range r.Failed {
			if reason == "" {
				unexplained++
				p.Must("fails without a reason", name, "a reason, or none", false)
			}
		}
		p.None(s.name+": failures without a reason", unexplained, r.Tests-r.Passed-r.Skipped)
	}
	return nil
}

// run runs a suite on an engine of its own.
func (s *otherSuite) run(ctx context.Context, p *proof, adaptor string) (r *otherResult, err error) {
	dir, err := filepath.Abs(s.dir(p))
	if err != nil {
		return nil, err
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
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	report := filepath.Join(p.work, s.name)
	made := s.command(p, dir, adaptor, report, server.Addr)
	cmd := exec.CommandContext(ctx, made.Args[0], made.Args[1:]...)
	cmd.Dir, cmd.Env = dir, made.Env
	out, failed := cmd.CombinedOutput() // fails if a test does; the report says more
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("no report: %w:\n%s", errors.Join(failed, err), scenario.End(string(out)))
	}
	if r, err = s.read(text); err != nil {
		return nil, fmt.Errorf("its report: %w", err)
	}
	r.Suite, r.Commit = s.name, commitOf(ctx, dir)
	for name := range r.Failed {
		r.Failed[name] = s.explain(name)
	}
	return r, nil
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

// readJUnit reads the XML of pytest.
func readJUnit(text []byte) (*otherResult, error) {
	var report struct {
		Suites []struct {
			Cases []struct {
				Class   string    `xml:"classname,attr"`
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, err
	}
	r := &otherResult{Failed: map[string]string{}}
	for _, s := range report.Suites {
		for _, c := range s.Cases {
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
	}
	if r.Passed == 0 {
		return nil, errors.New("no test passed")
	}
	return r, nil
}
