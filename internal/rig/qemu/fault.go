package qemu

import (
	"fmt"
	"os"
)

// Faults are the deliberate faults of RIG_FAULT: each changes what the
// programs get or do, never what is asserted.
var Faults = map[string]string{
	"drop":    "the relay loses one character",
	"noise":   "the relay inserts one character",
	"policy":  "the sender runs with a timer of the other policy",
	"period":  "the sender's period is 200 µs longer",
	"trigger": "the receive FIFO's trigger is 14 where 1 was asked",
	"flag":    "--low-latency is left out",
}

// fault says whether this fault was asked for.
func fault(name string) bool { return os.Getenv("RIG_FAULT") == name }

// checkFault refuses a fault that does not exist.
func checkFault() error {
	name := os.Getenv("RIG_FAULT")
	if name == "" || Faults[name] != "" {
		return nil
	}
	return fmt.Errorf("RIG_FAULT=%s: no such fault; there are: %v", name, Faults)
}
