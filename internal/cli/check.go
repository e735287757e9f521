package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"serialtiming/internal/audit"
	"serialtiming/internal/serialport"
)

const checkUsage = `%[1]s check looks at this machine and a port for what will show in the timing.

Usage:
  %[1]s check [--port PORT]

Example:
  %[1]s check --port /dev/ttyUSB0

It changes nothing and opens no port. What will be seen in the figures is red
and stands first; each item has its value, what it does, and what to do about it.

  --port PORT          look at this port too
  --version, --help

Exit status: 0 whatever it finds, 2 wrong usage.
`

// Check is the command check of a program.
func Check(program string, stdout io.Writer) Command {
	return func(_ context.Context, args []string) (int, error) {
		fs := pflag.NewFlagSet(program+" check", pflag.ContinueOnError)
		port := fs.String("port", "", "")
		if done, err := Parse(fs, args, fmt.Sprintf(checkUsage, program), stdout); done || err != nil {
			return Done, err
		}
		if fs.NArg() > 0 {
			return 0, Misuse("name a port with --port", "%q is not expected here", fs.Arg(0))
		}
		items := audit.System()
		if *port != "" {
			info, ok := audit.Find(*port)
			if !ok && !serialport.IsCable(*port) {
				return 0, Misuse("`"+program+" ports` lists those that exist", "no port %s is known here", *port)
			}
			items = audit.Sorted(append(audit.Port(info), items...))
		}
		return Done, audit.Text(stdout, items)
	}
}
