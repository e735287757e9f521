package qemu

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// QMP is QEMU's machine protocol on a Unix socket, as far as plugging goes.
type QMP struct {
	conn net.Conn
	dec  *json.Decoder
}

// QMPArgs makes QEMU listen at path.
func QMPArgs(path string) []string { return []string{"-qmp", "unix:" + path + ",server=on,wait=off"} }

// DialQMP connects, waiting up to d for QEMU to listen.
func DialQMP(path string, d time.Duration) (*QMP, error) {
	var conn net.Conn
	var err error
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		if conn, err = net.Dial("unix", path); err == nil {
			break
		}
		if time.Now().After(end) {
			return nil, err
		}
	}
	q := &QMP{conn: conn, dec: json.NewDecoder(conn)}
	var greeting map[string]any
	if err := q.dec.Decode(&greeting); err != nil {
		return nil, err
	}
	return q, q.Do("qmp_capabilities", nil)
}

// Do runs a command and waits for its answer; events in between are ignored.
func (q *QMP) Do(command string, arguments map[string]any) error {
	b, err := json.Marshal(map[string]any{"execute": command, "arguments": orEmpty(arguments)})
	if err != nil {
		return err
	}
	q.conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := q.conn.Write(b); err != nil {
		return err
	}
	for {
		var m struct {
			Return json.RawMessage `json:"return"`
			Error  *struct{ Desc string }
		}
		if err := q.dec.Decode(&m); err != nil {
			return fmt.Errorf("%s: %w", command, errors.Join(err, io.ErrUnexpectedEOF))
		}
		if m.Error != nil {
			return fmt.Errorf("%s: %s", command, m.Error.Desc)
		}
		if m.Return != nil {
			return nil
		}
	}
}

// Close hangs up; the machine goes on.
func (q *QMP) Close() error { return q.conn.Close() }

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
