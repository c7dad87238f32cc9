# pg_snowid: `make` alone lists what there is. What the targets do is in scripts/.
PG ?=
PG_CONFIG ?= pg_config

help: ## show this list
	@echo 'pg_snowid, targets of make:'
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo 'PG=NN picks a major of PostgreSQL; PG_CONFIG=/path/to/pg_config an existing server (default: the one on the PATH).'

demo: ## build all that is needed, start a throw-away server and show pg_snowid at work
	@scripts/demo $(PG)

demo-stop: ## stop the demo's server and remove it
	@scripts/demo-stop

check: ## while working: unit tests, lint, SQL tests of one server
	@scripts/test check $(PG)

test: ## all tests of one major: unit tests, models, SQL, servers that crash and fail over
	@scripts/test test $(PG)

test-fleet: ## tests of servers that share an etcd
	@scripts/test fleet $(PG)

test-orms: ## run the programs of docs/orms.md, with their ORMs
	@scripts/test orms $(PG)

test-random: ## 20,000 random queries with and without the planner's help, where make test has 400
	@scripts/test random $(PG)

test-setup: ## try make demo on machines that lack this or that, in roots of their own (needs root; an hour)
	@scripts/setup-tests

model: ## exhaustive models of the core, and Miri where a nightly toolchain has it
	@scripts/test model $(PG)

mutants: ## change the core and what reads SQL's arguments in hundreds of small ways: tests must notice (hours)
	@scripts/mutants core $(PG)
	@scripts/mutants sql $(PG)

bench: ## measure against what a server brings (11 minutes); QUICK=1 only sees that it works
	@scripts/bench $(PG)

lint: ## check formatting, and that clippy has nothing to say
	@scripts/lint $(PG)

typecheck: ## type-check for a major without its server: PG=16
	@scripts/typecheck $(PG)

install: ## build and install into the server of PG_CONFIG
	@scripts/install '$(PG_CONFIG)'

installcheck: ## run the SQL tests on a running server (PGHOST, PGPORT, PGUSER)
	@scripts/installcheck '$(PG_CONFIG)'

package: ## make an archive for other servers like that of PG_CONFIG
	@scripts/package '$(PG_CONFIG)'

clean: ## remove all that was built here
	@cargo clean

.PHONY: help demo demo-stop check test test-fleet test-orms test-random test-setup model mutants bench lint typecheck install installcheck package clean
