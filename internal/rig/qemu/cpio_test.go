package qemu

import (
	"bytes"
	"errors"
	"testing"
)

// TestCPIOGolden holds the bytes of one archive against the format: a header
// of 110 hex characters, name and data each padded to four bytes.
func TestCPIOGolden(t *testing.T) {
	var b bytes.Buffer
	c := &cpioWriter{w: &b}
	c.dir("dev")
	c.char("dev/console", 0o600, 5, 1)
	c.file("init", 0o755, []byte("hello"))
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	const z = "00000000"
	want := "070701" + "00000001" + "000041ED" + z + z + "00000001" + z + z + z + z + z + z + "00000004" + z + "dev\x00\x00\x00" +
		"070701" + "00000002" + "00002180" + z + z + "00000001" + z + z + z + z + "00000005" + "00000001" + "0000000C" + z + "dev/console\x00\x00\x00" +
		"070701" + "00000003" + "000081ED" + z + z + "00000001" + z + "00000005" + z + z + z + z + "00000005" + z + "init\x00\x00" + "hello\x00\x00\x00" +
		"070701" + z + z + z + z + "00000001" + z + z + z + z + z + z + "0000000B" + z + "TRAILER!!!\x00\x00\x00\x00"
	if got := b.String(); got != want {
		t.Errorf("archive\n got %q\nwant %q", got, want)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestCPIOKeepsFirstError(t *testing.T) {
	c := &cpioWriter{w: fullDisk{}}
	c.file("a", 0o644, []byte("x"))
	if err := c.close(); err == nil {
		t.Error("close after failed writes gave no error")
	}
}
