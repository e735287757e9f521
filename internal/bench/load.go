package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// settle is how long a load runs before the first round.
const settle = 2 * time.Second

// startLoad starts a command that runs beside the rounds, and gives what ends
// it. A load that is over before the rounds are is no load.
func startLoad(line string, stderr io.Writer) (end func() error, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return func() error { return nil }, nil
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the load: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end = func() error {
		select {
		case err := <-ended:
			return fmt.Errorf("the load ended before the rounds did (%v): the figures are of no load", err)
		default:
		}
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		return nil
	}
	time.Sleep(settle)
	return end, nil
}
