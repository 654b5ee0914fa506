# heatsink: `make help` lists the targets, `make test` is what CI runs.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory

# Steps run in the order written, cheap ones first, and never beside each other: timings would lie.
.NOTPARALLEL:
.DEFAULT_GOAL := help

FUZZRUNS ?= 5000
TIMEOUT  ?= 30m
PKG      ?= ./...
BENCH    ?= .
COUNT    ?= 10
BENCHOUT ?= bench.txt
N        ?= 50
SEED     ?= 1
ROWS     ?=
BREAKS   ?= 50
CHECKS   ?= 20000
MODELS   ?= 30
INPUTS   ?= 10000000
SOAK     ?= 5m
SEEDS    ?= 100000
KILLS    ?= 500
MOVES    ?= 20
REQUESTS ?= 100000
ITEMS    ?= 10000000
ALTERNATOR ?=
DYNALITE ?=
MOTO     ?=
LOCALSTACK ?=
ELECTRODB ?=
PYNAMODB ?=
PYTHON   ?= python3
SUITE    ?=
ONLY     ?=
WRITE    ?=
PEERS    := .peers

TOOL    := go tool -modfile=tools.mod
GOFILES := find . -name '.?*' -prune -o -name '*.go' -print0
heading  = @printf '\n== %s\n' '$(1)'

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: test
test: deps lint suite monitoring browser bench-once fuzz ## everything CI checks
	$(call heading,all checks passed)

# -race needs cgo, hence a C compiler and its headers. Whatever else the suite comes to need is installed here.
.PHONY: deps
deps: ## fetch what the tests need beside Go (a C compiler, a browser, Python, Node.js: Debian, as root)
	$(call heading,deps: C compiler for the race detector)
	@cc=$$(go env CC); \
	if echo '#include <stdlib.h>' | $$cc -E - >/dev/null 2>&1; then \
		echo "$$cc is there"; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gcc libc6-dev; \
	else \
		echo "no working C compiler ($$cc): install one, the race detector needs it" >&2; exit 1; \
	fi
	$(call heading,deps: a browser for the tests of the page)
	@if command -v chromium chromium-browser google-chrome chrome >/dev/null; then \
		echo "a browser is there"; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; \
	else \
		echo "no chromium: install one, the tests of the page need it" >&2; exit 1; \
	fi
	$(call heading,deps: Python and Node.js for the programs of docs/reference and docs/local.md)
	@if command -v node >/dev/null && python3 -c 'import boto3' 2>/dev/null; then \
		echo "python3 with boto3 and node are there"; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-boto3 nodejs; \
	else \
		echo "no python3 with boto3, or no node: install them, the tests of the documentation need them" >&2; exit 1; \
	fi
	$(call heading,deps: dynoxide for the tests that want a second opinion)
	@go run ./internal/peer/fetch

.PHONY: lint
lint: fmt-check vet fix-check staticcheck tidy-check ## format, vet, modernisers, staticcheck, go.mod

.PHONY: fmt-check
fmt-check:
	$(call heading,gofumpt)
	@unformatted=$$($(GOFILES) | xargs -0 $(TOOL) gofumpt -l); \
	if [ -n "$$unformatted" ]; then \
		printf 'not formatted, run make fmt:\n%s\n' "$$unformatted" >&2; exit 1; \
	fi

.PHONY: fmt
fmt: ## rewrite every Go file with gofumpt
	@$(GOFILES) | xargs -0 $(TOOL) gofumpt -l -w

.PHONY: vet
vet:
	$(call heading,go vet)
	@go vet ./...

.PHONY: fix-check
fix-check:
	$(call heading,go fix -diff)
	@go fix -diff ./... || { echo 'apply the above with: go fix ./...' >&2; exit 1; }

.PHONY: staticcheck
staticcheck:
	$(call heading,staticcheck)
	@$(TOOL) staticcheck ./...

.PHONY: tidy-check
tidy-check:
	$(call heading,go mod tidy -diff)
	@go mod tidy -diff

# Plain `go test` skips the tests on dynoxide where it is not installed. Here they fail, so that none is left out unseen.
# Each model test runs MODELS times from a fixed seed, so that a run repeats the one before. Plain `go test` draws a seed and
# runs them 100 times, `make soak` 1000 times. By default a process with the race detector sleeps for a second before it exits.
# `make lint` has run vet, on all of its analyzers. The packages that take longest begin first, so that none runs alone at the end.
.PHONY: suite
suite: ## the whole test suite with the race detector
	$(call heading,go test -race)
	@CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 RAPID_CHECKS=$(MODELS) RAPID_SEED=$(SEED) HEATSINK_PEERS=required go test -race -vet=off -timeout $(TIMEOUT) . ./move ./cmd/heatsink ./...
	$(call heading,docs/physics.md is what the scenarios give)
	@go test -run Fidelity -timeout $(TIMEOUT) ./local
	$(call heading,the table of examples/shop is what the shop does)
	@go test -run TestReadmeTable -timeout $(TIMEOUT) ./examples/shop

# A module of its own, so that users do not inherit Prometheus.
.PHONY: monitoring
monitoring: ## alert rules, dashboard and alarms of docs/monitoring, on Prometheus's own engine
	$(call heading,docs/monitoring on the engine of Prometheus)
	@cd internal/monitoring && go vet ./... && go fix -diff ./... && go mod tidy -diff && go test -timeout $(TIMEOUT) ./...

# A module of its own, so that users do not inherit the driver of a browser.
.PHONY: browser
browser: ## the page in a real browser
	$(call heading,the page in a browser)
	@cd internal/browser && go vet ./... && go fix -diff ./... && go mod tidy -diff && go test -timeout $(TIMEOUT) ./...

.PHONY: bench-once
bench-once:
	$(call heading,every benchmark once)
	@go test -vet=off -run '^$$' -bench . -benchtime 1x -timeout $(TIMEOUT) ./...

# `go test -fuzz` takes one target of one package at a time and links its binary anew, so each package is built once here and
# its targets are listed. A number of runs, not a time: on a busy machine the deadline of a time races the workers and fails a
# target that found nothing (golang/go#75804).
.PHONY: fuzz
fuzz: ## each fuzz target FUZZRUNS times (5000)
	$(call heading,each fuzz target $(FUZZRUNS) times)
	@binary=$$(mktemp); trap 'rm -f "$$binary"' EXIT; cache=$$(go env GOCACHE)/fuzz; \
	for dir in $$(grep -rlE --include='*_test.go' --exclude-dir='.?*' '^func Fuzz\w+' . | xargs -n 1 dirname | sort -u); do \
		go test -c -fuzz . -vet=off -o "$$binary" "$$dir"; \
		corpus=$$cache/$$(go list "$$dir"); mkdir -p "$$corpus"; \
		for name in $$(grep -hoE '^func Fuzz\w+' "$$dir"/*_test.go | sed 's/^func //' | sort); do \
			echo "-- $$name in $$dir"; \
			(cd "$$dir" && "$$binary" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZRUNS)x -test.fuzzminimizetime 100x -test.fuzzcachedir "$$corpus" </dev/null); \
		done; \
	done

.PHONY: bench
bench: ## benchmarks COUNT times into BENCHOUT, summarised (PKG=./... BENCH=. COUNT=10)
	@go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 0 $(PKG) | tee $(BENCHOUT)
	$(call heading,benchstat $(BENCHOUT))
	@$(TOOL) benchstat $(BENCHOUT)

.PHONY: proof-library
proof-library: ## measure that the library is never silently wrong (hours: BREAKS=50 random breaks of each package, CHECKS=20000)
	@go run ./internal/proof/library -breaks '$(BREAKS)' -checks '$(CHECKS)'

.PHONY: proof-server
proof-server: ## measure that the server stays up, bounded and closed (an hour: INPUTS=10000000 for its lanes, SOAK=5m; as root for full disks)
	@go run ./internal/proof/server -inputs '$(INPUTS)' -soak '$(SOAK)' -only '$(ONLY)'

.PHONY: proof-adaptive
proof-adaptive: ## measure that shards follow the load of their keys and nothing is missed (15 minutes: ONLY=step,roll)
	@go run ./internal/proof/adaptive -only '$(ONLY)'

.PHONY: proof-moving
proof-moving: ## measure that items move under load and nothing is lost, doubled or stale (25 minutes: ONLY=id,kills)
	@go run ./internal/proof/moving -only '$(ONLY)'

.PHONY: proof-heat
proof-heat: ## measure that findings are right on keys as people write them, and that their remedies work (25 minutes, most of them for its breaks: ONLY=corpus,loops)
	@go run ./internal/proof/heat -only '$(ONLY)' -seed '$(SEED)'

.PHONY: proof-first-contact
proof-first-contact: ## measure what a newcomer sees: heatsink beside hand-made suffixes, the demo in a fresh clone, the guide, the shop, the lab, the page and its pictures (25 minutes: ONLY=comparison,results,demo,walk,aggregate,frames,pictures, WRITE=1 for the documents)
	@go run ./internal/proof/firstcontact -only '$(ONLY)' $(if $(WRITE),-write)

# DynamoDB Local, dynoxide and the programs are downloaded once. What is not to be had, such as DynamoDB Local without a JVM, is "not run".
.PHONY: proof-engine
proof-engine: ## measure that the engine answers as DynamoDB does (30 minutes: SUITE=DIR of the public suite, ALTERNATOR=DIR, DYNALITE=DIR, MOTO=DIR and LOCALSTACK=DIR of others, ELECTRODB=DIR and PYNAMODB=DIR of tests of programs, REQUESTS=100000 beside its peers, ITEMS=10000000 for scale, ONLY=suite)
	@if command -v npm >/dev/null; then $(MAKE) -s $(PEERS)/node_modules/.package-lock.json || echo "dynalite is not to be had" >&2; fi
	@go run ./internal/proof/engine -suite '$(SUITE)' -alternator '$(ALTERNATOR)' -dynalite '$(DYNALITE)' -moto '$(MOTO)' -localstack '$(LOCALSTACK)' -electrodb '$(ELECTRODB)' -pynamodb '$(PYNAMODB)' -python '$(PYTHON)' -peers '$(PEERS)' -requests '$(REQUESTS)' -items '$(ITEMS)' -seed '$(SEED)' -only '$(ONLY)'

.PHONY: soak
soak: ## long runs: SEEDS=100000 of the ledger's simulator, all interleavings of moves, MOVES=20 seeds of moves, models 1000 times, SOAK=5m of everything at once on the engine, KILLS=500 of processes during moves
	$(call heading,simulator of ledgers with $(SEEDS) seeds)
	@go test ./internal/ledger/sim -run TestNothingIsMissed -seeds $(SEEDS) -timeout 0
	$(call heading,all interleavings of the long scenarios of moves)
	@go test ./internal/forward/check -run TestOneItem -full -v -timeout 0
	$(call heading,moves under load with $(MOVES) seeds)
	@go test -c -o moving.test ./internal/proof/moving
	@trap 'rm -f moving.test' EXIT; for seed in $$(seq 1 $(MOVES)); do echo "seed $$seed"; \
		./moving.test -test.run 'TestByID|TestIndex|TestList' -test.timeout 0 -seed $$seed -items 3000 -rate 100 -wcu 200; \
		./moving.test -test.run TestKills -test.timeout 0 -seed $$seed -kills 50; done
	$(call heading,models 1000 times from a seed that is drawn)
	@RAPID_CHECKS=1000 go test -timeout 0 ./...
	$(call heading,everything at once for $(SOAK))
	@HEATSINK_SOAK=$(SOAK) go test ./local -run Soak -race -timeout 0
	$(call heading,processes that use items while they move with $(KILLS) kills)
	@HEATSINK_KILLS=$(KILLS) go test ./cmd/heatsink -run TestMoveFleet -v -timeout 0

.PHONY: proof-structure
proof-structure: ## measure how the source is built: files, methods, exported names, clones, and the ways of a Put and a Query
	@go run ./internal/proof/structure

.PHONY: bench-engine
bench-engine: ## the local engine beside dynalite (needs npm), dynoxide, DynamoDB Local (needs a JVM) and an empty handler; BEFORE=FILE names what is slower than in that JSON of an earlier run
	@if command -v npm >/dev/null; then $(MAKE) -s $(PEERS)/node_modules/.package-lock.json; fi
	$(call heading,engine and its peers side by side)
	@go run ./internal/enginebench -peers $(PEERS) $(if $(BEFORE),-before $(BEFORE))

# npm writes this file last, so a broken install is tried again.
$(PEERS)/node_modules/.package-lock.json:
	$(call heading,npm install of dynalite into $(PEERS))
	@mkdir -p $(PEERS)
	@npm install --prefix $(PEERS) --no-audit --no-fund dynalite@4

.PHONY: dist
dist: ## binaries of the usual platforms and their checksums into ./dist, the same bytes on any machine with this version of Go
	@go run ./internal/dist build -only '$(ONLY)'
	@cat dist/SHA256SUMS

.PHONY: dist-check
dist-check: ## build one platform twice, in two directories with empty caches, and compare the bytes (minutes: ONLY=darwin/arm64)
	@go run ./internal/dist check -only '$(ONLY)'

.PHONY: install-check
install-check: ## go install of this checkout, through a file proxy and with an empty module cache (minutes)
	@go run ./internal/dist install

.PHONY: mutants
mutants: ## break PKG in N random ways (50, SEED=1) and list the breaks that its tests do not notice
	@go run ./internal/mutants -pkg '$(PKG)' -n '$(N)' -seed '$(SEED)'

.PHONY: row-breaks
row-breaks: ## break what each requirement states and see its tests fail (ROWS=000-01,X05 or all)
	@go run ./internal/mutants -rows $(ROWS)
