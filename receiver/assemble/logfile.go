package assemble

import (
	"fmt"
	"os"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/results"
)

// flushEvery hands rows to the system well within the second that the log's
// format promises.
const flushEvery = 500 * time.Millisecond

// LogFile is the run log on disk while a run goes on. A fault in writing it is
// said once and does not end the run.
type LogFile struct {
	voice  *cli.Voice
	file   *os.File
	writer *results.LogWriter
	next   time.Time
	err    error
}

// CreateLog creates a log; without a path there is none, and all methods do
// nothing.
func CreateLog(path, columns string, v *cli.Voice) (*LogFile, error) {
	if path == "" {
		return &LogFile{}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, cli.WithHint(err, "give --log a file in a folder that you may write to")
	}
	return &LogFile{voice: v, file: f, writer: results.NewLogWriter(f, columns)}, nil
}

// Writer gives what an assembler writes to, nil when there is no log.
func (l *LogFile) Writer() *results.LogWriter { return l.writer }

// Tick hands what is due to the system.
func (l *LogFile) Tick() {
	now := time.Now()
	if l.writer == nil || l.err != nil || now.Before(l.next) {
		return
	}
	l.next = now.Add(flushEvery)
	if l.err = l.writer.Flush(); l.err != nil {
		l.voice.Warn("the log cannot be written, the run goes on without it: %v", l.err)
	}
}

// Close writes the rest, has it synced to the disk and says whether the log is
// whole.
func (l *LogFile) Close() error {
	if l.file == nil {
		return nil
	}
	if l.err == nil {
		l.err = l.writer.Flush()
	}
	if l.err == nil {
		l.err = sync(l.file)
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	l.file = nil
	if l.err == nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the log is not whole: %w", l.err), "free some space, or give --log another file")
}

// sync forces a file to the disk; what is no file (a pipe, /dev/null) has none.
func sync(f *os.File) error {
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	}
	return f.Sync()
}
