// Command sender runs on the machine under test: it emits a character on a
// serial port at a fixed period, at real-time priority, and announces what it
// does to the receiver.
package main

import (
	"context"
	"io"
	"os"

	"serialtiming/internal/cli"
	"serialtiming/sender/load"
	"serialtiming/sender/probe"
)

func main() {
	// Loads and some probes are this binary again, in a process of its own.
	for _, child := range []func([]string) (bool, int){load.Child, probe.Child} {
		if handled, status := child(os.Args[1:]); handled {
			os.Exit(status)
		}
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program; its result is the exit status.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdout: stdout, stderr: stderr, voice: cli.NewVoice("sender", stderr)}
	return p.voice.Run(ctx, args, map[string]cli.Command{"ports": p.ports, "check": cli.Check("sender", p.stdout), "probe": p.probe}, p.send)
}

// program is what every command needs from outside.
type program struct {
	stdout, stderr io.Writer
	voice          *cli.Voice
}
