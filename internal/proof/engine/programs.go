package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"

	"github.com/heatsink-go/heatsink/internal/wire"
)

// The packages of the programs, and of what their tests need: for those of ElectroDB in the versions of its lock file.
var (
	goModules = &shelf{name: "go", programs: []string{"go"}, packages: []string{"github.com/guregu/dynamo/v2@v2.6.0"}, fetch: goGet}

	nodePackages = &shelf{name: "node", programs: []string{"npm", "node"}, fetch: npm, packages: []string{
		"dynamoose@4.2.0", "dynamodb-toolbox@2.10.6", "dynamodb-admin@5.3.3", "electrodb@3.9.3",
		"@aws-sdk/client-dynamodb@3.1162.0", "@aws-sdk/lib-dynamodb@3.1162.0",
	}}

	pythonPackages = &shelf{name: "python", programs: []string{python}, fetch: pip, packages: []string{
		"pynamodb==6.1.0", "awscli==1.46.2", "botocore==1.44.5", "pytest==9.2.0",
	}}

	electroTests = &shelf{name: "electrodb-tests", programs: []string{"npm", "node"}, fetch: npm, packages: []string{
		"mocha@10.8.2", // not 7.1.1, which cannot write a report to a file
		"chai@4.2.0", "uuid@7.0.1", "moment@2.24.0", "aws-sdk@2.1408.0", "ts-node@10.9.1", "typescript@5.2.2", "tslib@2.6.2",
		"@faker-js/faker@8.0.2", "jsonschema@1.5.0",
		"@aws-sdk/client-dynamodb@3.654.0", "@aws-sdk/lib-dynamodb@3.654.0", "@aws-sdk/util-dynamodb@3.654.0",
	}}
)

// programs are what people use DynamoDB with. Where a program has no tests that need a database, there are tests of ours that do what
// its manual shows.
var programs = []otherSuite{
	{
		name: "guregu-dynamo", program: "guregu/dynamo 2.6.0", needs: []*shelf{goModules}, least: 204, whole: true, prints: true,
		command: func(b *bench) []*exec.Cmd {
			cmd := exec.Command("go", "test", "-json", "-count=1", "github.com/guregu/dynamo/v2/...")
			cmd.Dir = goModules.dir(b.proof)
			cmd.Env = b.environment("GOFLAGS=-mod=mod", "GOWORK=off", "DYNAMO_TEST_ENDPOINT="+b.endpoint, "DYNAMO_TEST_REGION=us-east-1")
			return []*exec.Cmd{cmd}
		},
		read: readGoTest,
	},
	{
		name: "electrodb-own", needs: []*shelf{electroTests}, least: 5401, whole: true, excuses: electroExcuses,
		checkout: &checkout{"tywalch/electrodb", "ELECTRODB", func(p *proof) string { return p.electrodb }},
		command: func(b *bench) []*exec.Cmd {
			modules := electroTests.dir(b.proof)
			env := b.environment("LOCAL_DYNAMO_ENDPOINT="+b.endpoint, "NODE_PATH="+filepath.Join(modules, "node_modules"), "TS_NODE_TRANSPILE_ONLY=1")
			tables := exec.Command("node", "--require", filepath.Join(b.adaptor, "electrodb.cjs"), filepath.Join("test", "init.js"))
			tests := b.mocha(modules, "--require", "ts-node/register", "./test/**.spec.*", "--exit")
			tables.Env, tests.Env = env, env
			return []*exec.Cmd{tables, tests}
		},
		read: readMocha,
	},
	{
		name: "pynamodb-own", program: "PynamoDB 6.1.0", needs: []*shelf{pythonPackages}, least: 22, whole: true, excuses: pynamoExcuses,
		checkout: &checkout{"pynamodb/PynamoDB", "PYNAMODB", func(p *proof) string { return p.pynamodb }},
		command: func(b *bench) []*exec.Cmd {
			tests := filepath.Join(b.dir, "tests", "integration")
			cmd := b.pytest(pythonOfPrograms(b.proof), "--import-mode", "importlib", "--rootdir", tests, "--confcutdir", tests, tests)
			cmd.Env = append(cmd.Env, "PYNAMODB_INTEGRATION_TEST_DDB_URL="+b.endpoint)
			cmd.Dir = tests // not the checkout itself: Python would take its PynamoDB for the package
			return []*exec.Cmd{cmd}
		},
		read: readJUnit,
	},
	ofNode("dynamoose", "Dynamoose 4.2.0", 52, dynamooseExcuses),
	ofNode("toolbox", "dynamodb-toolbox 2.10.6", 39, nil),
	ofNode("admin", "dynamodb-admin 5.3.3", 90, adminExcuses),
	ofNode("electrodb", "ElectroDB 3.9.3", 33, nil),
	ofPython("pynamodb", "PynamoDB 6.1.0", 30),
	ofPython("awscli", "AWS CLI 1.46.2", 78, "--physics"),
}

// showPrograms runs what people use DynamoDB with.
func showPrograms(ctx context.Context, p *proof) error {
	return p.showTests(ctx, programs, &p.Programs)
}

// ofNode is our tests of a JavaScript program. They find its packages through their directory.
func ofNode(name, program string, least int, excuses []excuse) otherSuite {
	return otherSuite{
		name: name, program: program, needs: []*shelf{nodePackages}, least: least, whole: true, excuses: excuses, read: readJUnit,
		command: func(b *bench) []*exec.Cmd {
			cmd := exec.Command("node", "--test-reporter=junit", "--test-reporter-destination="+b.report, filepath.Join(b.adaptor, name+".mjs"))
			cmd.Env = b.environment("MODULES=" + filepath.Join(nodePackages.dir(b.proof), "node_modules"))
			return []*exec.Cmd{cmd}
		},
	}
}

// ofPython is our tests of a program that Python runs.
func ofPython(name, program string, least int, flags ...string) otherSuite {
	return otherSuite{
		name: name, program: program, needs: []*shelf{pythonPackages}, least: least, whole: true, flags: flags, read: readJUnit,
		command: func(b *bench) []*exec.Cmd {
			cmd := b.pytest(pythonOfPrograms(b.proof), "--rootdir", b.adaptor, filepath.Join(b.adaptor, name+"_checks.py"))
			operations, err := json.Marshal(wire.Operations())
			if err != nil {
				panic(err) // it is names
			}
			cmd.Env = append(cmd.Env, "OPERATIONS="+string(operations), "HOME="+b.work, "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1")
			return []*exec.Cmd{cmd}
		},
	}
}

func pythonOfPrograms(p *proof) string { return filepath.Join(pythonPackages.dir(p), "bin", "python") }
