//go:build !linux

package main

import "os"

// main refuses: a guest is a Linux machine.
func main() { os.Exit(1) }
