// Command receiver runs on the quiet machine: it stamps the characters that
// arrive on a serial port and prints the table of intervals. It also replays
// logs.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"serialtiming/internal/cli"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program; its result is the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, voice: cli.NewVoice("receiver", stderr)}
	command := p.receive
	if len(args) > 0 {
		switch args[0] {
		case "ports":
			command, args = p.ports, args[1:]
		case "compare":
			command, args = p.compare, args[1:]
		case "replay":
			command, args = p.replay, args[1:]
		}
	}
	ctx, stop := cli.Interrupts(ctx)
	defer stop()
	status, err := command(ctx, args)
	if errors.Is(err, context.Canceled) {
		err = cli.Interrupted
	}
	if err != nil {
		return p.voice.Fail(err)
	}
	return status
}

// program is what every command needs from outside.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	voice          *cli.Voice
}
