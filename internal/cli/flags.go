package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// ReportFlags are the flags of the report, as plain values; both binaries
// have them.
type ReportFlags struct {
	Bin       time.Duration
	Tick      int64
	TickPhase time.Duration
	Period    time.Duration
	LateBy    time.Duration
	JSON, CSV string
}

// Add declares the flags that shape a report.
func (r *ReportFlags) Add(fs *pflag.FlagSet) {
	fs.DurationVar(&r.Bin, "bin", time.Millisecond, "")
	fs.Int64Var(&r.Tick, "tick", 0, "")
	fs.DurationVar(&r.TickPhase, "tick-phase", 0, "")
	fs.DurationVar(&r.Period, "period", 0, "")
	fs.DurationVar(&r.LateBy, "late-by", 0, "")
	r.AddOutputs(fs)
}

// AddOutputs declares the flags that say where a report goes.
func (r *ReportFlags) AddOutputs(fs *pflag.FlagSet) {
	fs.StringVar(&r.JSON, "json", "", "")
	fs.StringVar(&r.CSV, "csv", "", "")
}

// Validate gives the first rule that the flags break.
func (r *ReportFlags) Validate(fs *pflag.FlagSet) error {
	switch {
	case r.JSON == "-" && r.CSV == "-":
		return Misuse("give one of them a file", "--json - and --csv - both want stdout")
	case fs.Changed("bin") && fs.Changed("tick"):
		return Misuse("drop one of them", "--bin and --tick are two ways to make the same table")
	case fs.Changed("tick-phase") && !fs.Changed("tick"):
		return Misuse("add --tick 1024", "--tick-phase needs --tick")
	case fs.Changed("tick") && r.Tick <= 0:
		return Misuse("the DOS machine's clock was --tick 1024", "a tick of %d Hz does not count", r.Tick)
	case fs.Changed("period") && r.Period < 0, fs.Changed("late-by") && r.LateBy < 0:
		return Misuse("give a duration such as 5ms", "a negative duration is none")
	case fs.Changed("late-by") && r.LateBy == 0:
		return Misuse("give a duration such as 250us, or drop the flag", "--late-by 0s would call every character late")
	}
	return nil
}

// Parse reads a command line. done is true when it only asked for help or the
// version, which has then been printed on stdout.
func Parse(fs *pflag.FlagSet, args []string, usage string, stdout io.Writer) (done bool, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.SortFlags = false
	version := fs.Bool("version", false, "")
	err = fs.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		_, err = io.WriteString(stdout, usage)
		return true, err
	case err != nil:
		return false, Misuse("see "+fs.Name()+" --help", "%v", err)
	case *version:
		_, err = fmt.Fprintf(stdout, "%s %s\n", fs.Name(), Version())
		return true, err
	}
	return false, nil
}
