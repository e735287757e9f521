package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/script"
)

// guest is the state between steps.
type guest struct {
	programs map[string]*program
	held     map[string]int // port -> descriptor
	where    atomic.Value   // of string: the step that is being worked on

	mu      sync.Mutex // guards results, for the deadline
	results []script.Result
}

var errTimeout = errors.New("did not happen in time")

// verbs are the things that a step can ask for; each gives the step's Value.
var verbs = map[string]func(*guest, script.Step) (string, error){
	"start":  (*guest).start,
	"wait":   (*guest).wait,
	"run":    (*guest).run,
	"signal": (*guest).signal,
	"stall":  (*guest).stall,
	"hog":    hog,
	"sleep":  func(_ *guest, s script.Step) (string, error) { sleepUntil(now() + int64(s.For)); return "", nil },
	"read":   func(_ *guest, s script.Step) (string, error) { b, err := os.ReadFile(s.Path); return string(b), err },
	"write":  func(_ *guest, s script.Step) (string, error) { return "", writeOnce(s.Path, s.Text) },
	"mark":   func(_ *guest, s script.Step) (string, error) { fmt.Println("RIG-MARK " + s.Text); return "", nil },
	"await-path": func(_ *guest, s script.Step) (string, error) {
		return "", await(s.For, func() bool { return size(s.Path) >= 0 })
	},
	"await-gone": func(_ *guest, s script.Step) (string, error) {
		return "", await(s.For, func() bool { return size(s.Path) < 0 })
	},
	"await-size": func(_ *guest, s script.Step) (string, error) {
		return "", await(s.For, func() bool { return size(s.Path) >= s.N })
	},
	"hold":       (*guest).hold,
	"unhold":     (*guest).unhold,
	"loop":       (*guest).loop,
	"count":      (*guest).count,
	"await-tx":   (*guest).awaitTX,
	"lowlatency": (*guest).lowLatency,
	"loopmode":   (*guest).loopMode,
	"overrun":    overrun,
	"emit":       emit,
}

func (g *guest) work(steps []script.Step) {
	for i, s := range steps {
		g.where.Store(fmt.Sprintf("%d (%s %s%s)", i, s.Do, s.Name, s.Path))
		r := script.Result{Step: s, From: now()}
		verb, ok := verbs[s.Do]
		if !ok {
			r.Err = "no such step"
		} else if v, err := verb(g, s); err != nil {
			r.Value, r.Err = v, err.Error()
		} else {
			r.Value = v
		}
		r.To = now()
		g.mu.Lock()
		g.results = append(g.results, r)
		g.mu.Unlock()
	}
}

// finish sends /out and the record to the host and ends the machine.
func (g *guest) finish() {
	g.mu.Lock() // never released: only one finishes
	b, err := json.Marshal(g.results)
	if err == nil {
		err = os.WriteFile(filepath.Join(outDir, "steps.json"), b, 0o644)
	}
	if err == nil {
		err = sendAll("/dev/vport0p1")
	}
	if err != nil {
		say("results: %v", err)
	}
	say("done after %.3f s", float64(now())/1e9)
	time.Sleep(20 * time.Millisecond)
	powerOff()
}

func sendAll(port string) error {
	if err := await(5*time.Second, func() bool { return size(port) >= 0 }); err != nil {
		return fmt.Errorf("%s: %w", port, err)
	}
	f, err := os.OpenFile(port, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(plainWriter{f})
	if err := w.AddFS(os.DirFS(outDir)); err != nil {
		return err
	}
	return w.Close()
}

// plainWriter hides everything but Write: no splice, no sendfile.
type plainWriter struct{ io.Writer }

func writeOnce(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// size of a file, -1 if there is none.
func size(path string) int64 {
	i, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return i.Size()
}

func await(most time.Duration, what func() bool) error {
	for end := now() + int64(most); !what(); sleepUntil(now() + int64(5*time.Millisecond)) {
		if now() > end {
			return errTimeout
		}
	}
	return nil
}

// hog spins on this thread, which stands above all.
func hog(_ *guest, s script.Step) (string, error) {
	for end := now() + int64(s.For); now() < end; {
	}
	return "", nil
}
