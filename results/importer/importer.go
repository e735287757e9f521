package importer

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Options are what a user may say about a file; the zero value says nothing.
// TimeColumn, TimeUnit and Deltas without a Format mean a table.
type Options struct {
	Format     string // a name of Formats
	Channel    string // a name or an alias of a channel, in any case of letters
	SampleRate int64  // Hz, where the file counts samples and does not say
	TimeColumn int    // of a table, from 1; 0: by header or content
	TimeUnit   string // of a table's time column: s, ms, us, ns; "": by header or magnitude
	Deltas     bool   // the stamps, of a table or of lines, are differences; also found out where they cannot be else
}

// validate has one sentence a rule.
func (o Options) validate() error {
	switch {
	case o.Format != "" && lookup(o.Format) == nil:
		return fmt.Errorf("no format is called %q; there are: %s", o.Format, strings.Join(names(), ", "))
	case o.SampleRate < 0:
		return errors.New("the sample rate must be positive")
	case o.TimeColumn < 0:
		return errors.New("columns are counted from 1")
	case o.TimeUnit != "" && unitOf(o.TimeUnit) < 0:
		return fmt.Errorf("the time unit is s, ms, us or ns, not %q", o.TimeUnit)
	}
	return nil
}

// Open finds out what r holds and gives its events. It reads gzip, zstd and
// UTF-16 as they are. name is for messages only. r should be an io.Seeker
// where it can be one: formats that must be read twice keep a pipe in memory.
//
// Errors: ErrEmpty, ErrOwnLog, *Refusal, *OptionError, *UnknownError, or of
// reading.
func Open(r io.Reader, name string, opt Options) (*Source, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	in, err := newInput(r, name, opt)
	if err != nil {
		return nil, err
	}
	if err := in.foreign(); err != nil {
		return nil, err
	}
	im, err := choose(in)
	if err != nil {
		return nil, err
	}
	if im.open == nil {
		return nil, &Refusal{Name: name, Format: im.Name, Why: im.Refused, Hint: im.hint}
	}
	if flag := im.refuses(opt); flag != "" {
		return nil, &OptionError{Name: name, Format: im.Name, Flag: flag}
	}
	rd, err := im.open(in)
	if err != nil {
		return nil, named(err, name, im.Name)
	}
	return newSource(in, im, rd), nil
}

const ownLogMark = "# serialtiming log "

// foreign says why a file is none of another tool.
func (in *input) foreign() error {
	switch {
	case in.head.whole && len(in.head.raw) == 0:
		return fmt.Errorf("%s: %w", in.name, ErrEmpty)
	case strings.HasPrefix(in.head.first(), ownLogMark):
		return ErrOwnLog
	}
	return nil
}

// choose gives the importer that was asked for, by its name or by an option of
// the table's, or the first that recognises the head.
func choose(in *input) (*importer, error) {
	if in.opt.Format != "" {
		return lookup(in.opt.Format), nil
	}
	found, err := recognise(in)
	if in.opt.tableFlags() {
		return orTable(in, found), nil
	}
	return found, err
}

// recognise gives the first importer that knows the head.
func recognise(in *input) (*importer, error) {
	unknown := &UnknownError{Name: in.name}
	for i := range registry {
		im := &registry[i]
		why := im.detect(in.head)
		if why == "" {
			return im, nil
		}
		unknown.Tried = append(unknown.Tried, Tried{im.Name, why})
	}
	return nil, unknown
}

// named fills in the file and the format of a Refusal that an importer made.
func named(err error, name, format string) error {
	var r *Refusal
	if errors.As(err, &r) {
		r.Name, r.Format = name, format
		return r
	}
	return err
}
