# pg_snowid: `make` alone lists what there is. What the targets do is in scripts/.
PG ?=
PG_CONFIG ?= pg_config

help: ## show this list
	@echo 'pg_snowid, targets of make:'
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo 'PG=15|16|17|18 picks a major; PG_CONFIG=/path/to/pg_config an existing server (default: the one on the PATH).'

demo: ## build all that is needed, start a throw-away server and show pg_snowid at work
	@scripts/demo $(PG)

demo-stop: ## stop the demo's server and remove it
	@scripts/demo-stop

test: ## run all tests; PG=17 or PG=18 runs the servers' tests on that major
	@scripts/test $(PG)

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

.PHONY: help demo demo-stop test bench lint typecheck install installcheck package clean
