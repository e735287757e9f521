// Package wine runs the Windows builds of sender and receiver, and the tests
// of all packages, under Wine, with pseudo-terminals as COM ports.
//
// What it promises: every call to Windows that the programs make is made and
// read back; what crosses the ports went through their own overlapped reads
// and writes. What Wine only pretends is listed in README.md beside this file.
//
// The scenarios are tests behind the build tag rig; setup (a script beside
// this file) installs Wine and makes the prefix:
//
//	internal/rig/wine/setup
//	go test -tags rig -v -count=1 -timeout 10m ./internal/rig/wine
//
// Environment:
//
//	RIG_REQUIRED=1   what is missing is a failure, not a loud skip
//	RIG_CACHE=DIR    where setup put the prefix
//	RIG_BIN=DIR      take sender.exe and receiver.exe from there, do not build them
package wine
