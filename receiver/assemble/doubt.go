package assemble

import (
	"serialtiming/protocol"
	"serialtiming/results"
)

// doubted is a character behind a silence that is not believed yet.
type doubted struct {
	b  byte
	at int64
	f  results.Flags
}

// An announcement stands between two silences. When its first byte was lost or
// damaged the scanner takes its text for characters of the stream, hundreds of
// them. So what comes behind a silence is held until it shows what it is: six that
// follow each other, or twenty-four that are the same, stand in no announcement
// and are the stream; an end of a frame makes it a damaged announcement.
const (
	inOrder = 6
	alike   = 24
)

func (a *Assembler) frameGap() int64 { return int64(protocol.FrameGap(a.opt.CharTime)) }

// doubtful holds a character behind a silence; false lets it pass.
func (a *Assembler) doubtful(b byte, at int64, f results.Flags) bool {
	silence := at-a.lastAt > a.frameGap() || a.lastAt == 0
	a.lastAt = at
	if silence {
		a.believe()
	} else if len(a.doubt) == 0 {
		return false
	}
	a.doubt = append(a.doubt, doubted{b, at, f})
	if len(a.doubt) >= protocol.MaxFrame || a.stream() {
		a.believe()
	}
	return true
}

// stream says whether the last of what is held can only be the stream.
func (a *Assembler) stream() bool {
	follow, same := 1, 1 // 0: no longer
	for i := len(a.doubt) - 1; i > 0 && follow+same > 0; i-- {
		before, b := a.doubt[i-1].b, a.doubt[i].b
		if follow > 0 && protocol.Printable.Contains(before) && protocol.Printable.Next(before) == b {
			follow++
		} else {
			follow = 0
		}
		if same > 0 && b == before {
			same++
		} else {
			same = 0
		}
		if follow >= inOrder || same >= alike {
			return true
		}
	}
	return false
}

// believe takes what is held as characters of the stream.
func (a *Assembler) believe() {
	held := a.doubt
	a.doubt = a.doubt[:0]
	for _, d := range held {
		a.gather(d.b, d.at, d.f)
	}
}

// dropDoubt takes what is held as an announcement that arrived damaged; false
// if there is none, or if it is the first that is heard: then it is the rest
// of one, and strayEnd makes it noise.
func (a *Assembler) dropDoubt() bool {
	first := !a.heard && len(a.done) == 0 && a.cur == nil
	if first || len(a.doubt) < 8 { // shorter than any frame: noise
		a.believe()
		return false
	}
	a.doubt = a.doubt[:0]
	a.damaged++
	a.heard = true
	return true
}
