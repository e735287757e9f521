# make demo and make test need Go and nothing else.
GO ?= go
BIN := bin
FUZZ := ./...
FUZZTIME := 10s
SYSTEMS := linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64 \
	freebsd/amd64 freebsd/arm64 openbsd/amd64 openbsd/arm64

.PHONY: help build demo test bench vet cross fuzz rig-qemu rig-long rig-wine clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## both binaries into bin/, without the C library, to be copied anywhere
	CGO_ENABLED=0 $(GO) build -o $(BIN)/ ./sender ./receiver

demo: build ## both ends over a virtual cable, 10 seconds
	@echo '$$ bin/receiver --port cable:demo --log bin/demo.csv &'
	@echo '$$ bin/sender --port cable:demo --period 5ms --count 2000 --label "no interface operations"'
	@$(BIN)/receiver --port cable:demo --log $(BIN)/demo.csv > $(BIN)/demo.txt & receiver=$$!; \
	$(BIN)/sender --port cable:demo --period 5ms --count 2000 --label "no interface operations" > $(BIN)/demo-sender.txt; sent=$$?; \
	wait $$receiver && cat $(BIN)/demo.txt && echo && \
	echo 'What the sender saw of itself:' && cat $(BIN)/demo-sender.txt && exit $$sent

test: ## all tests that need nothing but Go
	$(GO) test ./...

bench: ## the sender beside cyclictest, the replay beside wc -l, the importers beside mawk and tshark
	CGO_ENABLED=0 $(GO) run ./internal/bench

fuzz: ## every fuzz target for FUZZTIME (10s each; FUZZ=./results/importer for one folder)
	@failed=; n=0; for p in $$($(GO) list $(FUZZ)); do \
	targets=$$($(GO) test -list '^Fuzz' $$p) || exit 1; \
	for t in $$(echo "$$targets" | grep '^Fuzz'); do \
	n=$$((n + 1)); echo "fuzz $$p $$t"; \
	run="$(GO) test -run ^$$ -fuzz ^$$t$$ -fuzztime $(FUZZTIME) -parallel 2 $$p"; \
	$$run || { echo "once more: what was found is in testdata now, a hiccup of the fuzzer is not"; $$run; } || failed="$$failed $$t"; \
	done; done; \
	test -z "$$failed" || { echo "FAILED:$$failed"; exit 1; }; \
	test $$n -gt 0 || { echo 'FAILED: no fuzz target in $(FUZZ)'; exit 1; }; \
	echo "fuzz: $$n targets, $(FUZZTIME) each, none failed"

vet: ## gofmt and go vet for five systems
	@test -z "$$(gofmt -l .)" || { echo 'gofmt would change:'; gofmt -l .; exit 1; }
	@for s in linux windows darwin freebsd openbsd; do echo "vet $$s"; GOOS=$$s CGO_ENABLED=0 $(GO) vet ./... || exit 1; done

cross: ## build for ten targets
	@for t in $(SYSTEMS); do echo "build $$t"; \
	GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build -o $(BIN)/$$t/ ./sender ./receiver || exit 1; done

rig-qemu: ## real drivers: Linux guests under QEMU, in real and in virtual time
	internal/rig/qemu/setup
	$(GO) test -tags rig -v -count=1 -timeout 20m ./internal/rig/qemu

rig-long: ## the same over two hours of a guest's time
	internal/rig/qemu/setup
	RIG_LONG=1 $(GO) test -tags rig -v -count=1 -timeout 90m -run TestLong ./internal/rig/qemu

rig-wine: ## the Windows programs under Wine, pseudo-terminals as COM ports
	internal/rig/wine/setup
	$(GO) test -tags rig -v -count=1 -timeout 10m ./internal/rig/wine

clean: ## what the other targets made
	rm -rf $(BIN)
