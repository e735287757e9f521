// Package qemu runs sender and receiver on real serial drivers without any
// hardware: Linux guests in QEMU, which hold nothing but our static binaries
// and a small init, their UARTs cabled on the host.
//
// What it promises: everything that a scenario asserts was seen through the
// 8250 or the ftdi_sio driver of a Debian kernel; scenarios in virtual time
// (Guest.Virtual) do not depend on how busy the host is. What it cannot give
// is listed in README.md beside this file.
//
// The scenarios are tests behind the build tag rig; setup (a script beside
// this file) fetches the emulator and the kernels:
//
//	internal/rig/qemu/setup
//	go test -tags rig -v -count=1 -timeout 15m ./internal/rig/qemu
//
// Environment:
//
//	RIG_REQUIRED=1   what is missing is a failure, not a loud skip
//	RIG_CACHE=DIR    where setup put the kernels
//	RIG_BIN=DIR      take sender and receiver from there, do not build them
//	RIG_KEEP=DIR     keep every guest's console and results in DIR/NAME
//	RIG_FAULT=NAME   a deliberate fault, to see the matching assertion fail
//	RIG_LONG=1       run the long scenario, and only that
package qemu
