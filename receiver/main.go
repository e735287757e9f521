// Command receiver runs on the quiet machine: it stamps the characters that
// arrive on a serial port and prints the table of intervals. It also replays
// logs.
package main

import (
	"context"
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
	return p.voice.Run(ctx, args, map[string]cli.Command{
		"ports": p.ports, "check": cli.Check("receiver", p.stdout), "replay": p.replay, "compare": p.compare,
	}, p.receive)
}

// program is what every command needs from outside.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	voice          *cli.Voice
}
