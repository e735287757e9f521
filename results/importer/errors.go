package importer

import (
	"errors"
	"fmt"
	"strings"
)

// ErrOwnLog is what Open gives for a run log of this project: it is for
// package results to read.
var ErrOwnLog = errors.New("this is a serialtiming run log")

// ErrEmpty is what Open gives for a file without a byte.
var ErrEmpty = errors.New("the file is empty")

// A Refusal says why a file that was recognised gives no timing.
type Refusal struct {
	Name   string // of the file
	Format string // that it was recognised as
	Why    string // a sentence without its full stop
	Hint   string // an action, "" for none
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s: %s", r.Name, r.Format, r.Why)
}

// An OptionError is an option that the file's format has no use for.
type OptionError struct {
	Name   string // of the file
	Format string
	Flag   string // --samplerate, --time-column, --time-unit or --deltas
}

func (o *OptionError) Error() string {
	return fmt.Sprintf("%s: %s does not apply to the format %s", o.Name, o.Flag, o.Format)
}

// Tried is one format that looked at the file, and why it said no.
type Tried struct{ Format, Why string }

// An UnknownError is a file that no format recognised.
type UnknownError struct {
	Name  string
	Tried []Tried
}

func (u *UnknownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the format is not known; tried:", u.Name)
	for _, t := range u.Tried {
		fmt.Fprintf(&b, "\n  %-18s %s", t.Format, t.Why)
	}
	return b.String()
}

// Channel is one stream of a file: an analyser, a direction, an interface, a
// file descriptor.
type Channel struct {
	Name   string
	Events int64
	Bytes  int64
	// Listed channels are taken only when Options.Channel names them: what a
	// program wrote, reads of an ended stream, kernel events beside reads.
	Listed bool
}

// A ChannelsError lists the channels when none was chosen and several hold
// data, or when the chosen one is not in the file.
type ChannelsError struct {
	Name     string
	Asked    string // Options.Channel
	Channels []Channel
}

const shownChannels = 20

func (c *ChannelsError) Error() string {
	var b strings.Builder
	if c.Asked == "" {
		fmt.Fprintf(&b, "%s: choose one channel, they are never merged:", c.Name)
	} else {
		fmt.Fprintf(&b, "%s: the channel %q is none or more than one of these:", c.Name, c.Asked)
	}
	for i, ch := range c.Channels {
		if i == shownChannels {
			fmt.Fprintf(&b, "\n  and %d more", len(c.Channels)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %q  %d events, %d bytes", ch.Name, ch.Events, ch.Bytes)
	}
	return b.String()
}
