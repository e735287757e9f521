// Package importer reads the logs that other tools wrote and gives what they
// truly hold: events in file order, each with its instant, its bytes and its
// line errors; or a refusal that says why there is no timing in the file.
//
// # What it promises
//
//   - A format is told by content, never by name (registry.go). Options.Format
//     overrides.
//   - One pass, constant memory, no files of its own. Only strace logs are read
//     twice, because the end of the log decides which stream is meant; a pipe
//     is then kept in memory up to 32 MiB.
//   - What a file claims does not become memory: at most 64 KiB of bytes that it
//     counts but does not hold, a thousand channels, a million values of a
//     histogram. The fuzz targets hold it.
//   - Instants are int64 nanoseconds taken from the decimal text without
//     floating point, rounded half up below a nanosecond.
//   - Channels are never merged. Where several hold data and none was chosen,
//     Next gives a *ChannelsError with the counts. As one pass cannot know the
//     second channel before it comes, that error may follow events: whoever
//     gets it throws away what it has.
//   - A bad line is counted and shown, reading goes on; a file of which more
//     than half is unreadable, or whose stamps step by whole seconds, ends in
//     a *Refusal instead of io.EOF.
//
// # The next importer
//
// One file with a type that has next(*record) error, one func that says why a
// head is not of this format ("" when it is), one line in the table of
// registry.go, one sample in testdata/ with its figures in samples_test.go.
// The sample also seeds the fuzz target.
package importer
