# Every target is one command; CONTRIBUTING.md says when to use which.
export GOTOOLCHAIN = go1.27.3
# Pebble compresses nothing here; with this tag it brings no compressor in C, which takes minutes to compile.
export GOFLAGS += -tags=pebblegozstd

GO      ?= go
# The packages whose state is owned by an event loop, and the loop itself.
RACE     = internal/(actor|rpc|heartbeat|ha|blob|dispatcher|jobmaster|resourcemanager|taskexecutor|coordinator|testkit)(/|$$)
# Without debug information and without gRPC's request traces, which nobody reads.
SMALL    = -trimpath -tags grpcnotrace,pebblegozstd -ldflags="-s -w"
# Asked for by the recipe, whose shell has the toolchain above.
WORDS    = $$($(GO) env GOROOT)/src/**/*.go
FUZZTIME ?= 10s
SEEDS    ?= 20000
FROM     ?= 1
FAULTS   ?= 60
PROGRAMS ?= 1000
SEED     ?= 0
# What bench-sql measures: TPC-H's scale factor, and how large the file is that is scanned.
SF       ?= 1
SIZE     ?= 1GB
# The answers of genuine Flink, which are not part of the repository.
ORACLE   ?= ../shared/oracle/sql

.PHONY: build demo demo-stream test oracle sim mutants chaos exactly-once metamorphic race vet staticcheck bench bench-failover bench-state bench-compare bench-sql proto docs fuzz clean

build: ; $(GO) build $(SMALL) -o bin/weir ./cmd/weir && $(GO) build $(SMALL) -o bin/wordcount ./examples/wordcount

demo: build ; ./bin/wordcount --rate --input "$(WORDS)"

demo-stream: build ; $(GO) build $(SMALL) -o bin/growing ./examples/growing && $(GO) run ./test/demo

# On a busy machine the whole clusters of test/e2e take longer than the ten minutes that are the default.
test: ; $(GO) test -timeout 30m ./...

oracle: ; mkdir -p bin && $(GO) run ./test/oracle --groups --report bin/oracle.txt --expressions $(ORACLE)/expressions.tsv --statements $(ORACLE)/statements.tsv --queries $(ORACLE)/queries

sim: ; $(GO) test ./internal/testkit/sim -run TestWorld -v -timeout 0 -from $(FROM) -seeds $(SEEDS)

chaos: ; $(GO) test ./test/chaos -run TestChaos -v -count 1 -timeout 45m -faults $(FAULTS) -seed $(SEED)

exactly-once: ; $(GO) test ./test/chaos -run TestExactlyOnce -v -count 1 -timeout 45m -faults $(FAULTS) -seed $(SEED)

metamorphic: ; $(GO) test ./test/metamorphic -v -count 1 -timeout 0 -programs $(PROGRAMS)

mutants: ; $(GO) run ./internal/testkit/sim/mutants

race: ; $(GO) list ./... | grep -E '$(RACE)' | xargs -r $(GO) test -race -short -timeout 30m

vet: ; $(GO) vet ./...

staticcheck: ; $(GO) tool staticcheck ./...

bench: ; $(GO) run ./bench/run

bench-failover: ; $(GO) run ./bench/run -failover

bench-state: ; $(GO) run ./bench/run -state

bench-compare: ; $(GO) run ./bench/compare

bench-sql: ; $(GO) run ./bench/sql -sf $(SF) -size $(SIZE) $(SQLARGS)

proto: ; protoc -I proto --plugin=protoc-gen-go="$$($(GO) tool -n protoc-gen-go)" --go_out=. --go_opt=module=github.com/weirstream/weir $$(find proto -name '*.proto')

docs: ; $(GO) generate ./internal/cli && $(GO) test ./internal/sql/builtin -run TestReference -write

fuzz: ; grep -roE '^func Fuzz\w+' --include='*_test.go' . | sed -E 's|/[^/]*:func | |' | while read -r pkg name; do $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; done

clean: ; rm -rf bin/weir bin/wordcount bin/growing coverage
