package load

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// keepFree is the part of the disk that a load leaves free: a tenth.
const keepFree = 10

// file is what a disk load writes to; a test has another one.
type file interface {
	WriteAt(b []byte, off int64) (int, error)
}

// disk writes a file record by record as fast as the system's cache takes it,
// as the disk diagnostic of seed 000 did. The file grows to its size, or until
// a tenth of the disk is left, and is then written again from its start: the
// load goes on, the file does not grow.
func (w *worker) disk() error {
	s := w.spec
	if info, err := os.Stat(s.Dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no folder", s.Dir)
	}
	f, err := createDoomed(s.Dir)
	if err != nil {
		return err
	}
	if c, ok := f.(io.Closer); ok {
		defer c.Close()
	}
	d := &diskWriter{
		file: f, size: s.Size, record: randomBytes(s.Record),
		free:  func() (free, total int64, err error) { return diskFree(s.Dir) },
		note:  w.note,
		first: w.ready,
	}
	for {
		if err := d.write(); err != nil {
			return fmt.Errorf("write into %s: %w", s.Dir, err)
		}
	}
}

// randomBytes cannot be compressed or left out by a clever disk.
func randomBytes(n int64) []byte {
	b := make([]byte, n)
	r := rand.NewPCG(1998, 5)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// diskWriter is the load's state.
type diskWriter struct {
	file   file
	size   int64 // the file's greatest size; set lower when the disk has no more
	record []byte
	free   func() (free, total int64, err error)
	note   func(format string, a ...any)
	first  func() // called behind the first record

	at, high int64 // the next record's place, and the file's end
}

var errDiskFull = errors.New("a tenth of the disk has to stay free, and no more is left")

// write writes one record, the first again when the file has its size.
func (d *diskWriter) write() error {
	if d.at >= d.size {
		d.at = 0
	}
	b := d.record[:min(int64(len(d.record)), d.size-d.at)]
	if d.at+int64(len(b)) > d.high {
		if !d.room(int64(len(b))) {
			return d.stopGrowing(errDiskFull)
		}
	}
	n, err := d.file.WriteAt(b, d.at)
	d.at += int64(n)
	if d.high == 0 && n > 0 && d.first != nil {
		d.first()
	}
	d.high = max(d.high, d.at)
	if err != nil && outOfSpace(err) {
		return d.stopGrowing(err)
	}
	return err
}

// room tells whether the file may grow. A disk that does not tell its size (a
// network share may not) is written on.
func (d *diskWriter) room(n int64) bool {
	free, total, err := d.free()
	return err != nil || total <= 0 || free-n >= total/keepFree
}

// stopGrowing makes the present size the final one.
func (d *diskWriter) stopGrowing(why error) error {
	if d.high == 0 {
		return why
	}
	if d.size > d.high {
		d.note("the file stopped growing at %s of %s: %v", sizeText(d.high), sizeText(d.size), why)
	}
	d.size, d.at = d.high, 0
	return nil
}
