package qemu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Rig is what guests are made of: kernels, programs and a place to work.
type Rig struct {
	cache string            // of kernels, as setup left it
	work  string            // sockets, images, consoles
	bins  map[string][]byte // in the guest: /bin/NAME
	init  []byte
}

// Kernels that setup fetches, by the name of their folder.
const (
	Cloud = "cloud" // boots fast, no USB
	Full  = "full"  // USB and ftdi_sio, /dev/port
)

// Missing says in a sentence each what the rig lacks on this machine.
func Missing() []string {
	var out []string
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		out = append(out, "qemu-system-x86_64 is not installed")
	}
	cache, err := cacheDir()
	if err != nil {
		return append(out, err.Error())
	}
	for _, k := range []string{Cloud, Full} {
		if _, err := os.Stat(filepath.Join(cache, k, "complete")); err != nil {
			out = append(out, "the "+k+" kernel is not in "+cache)
		}
	}
	return out
}

// New builds the programs and makes a rig that works in the folder work.
func New(work string) (*Rig, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	r := &Rig{cache: cache, work: work, bins: map[string][]byte{}}
	if r.init, err = build(work, "internal/rig/qemu/guest"); err != nil {
		return nil, err
	}
	for _, name := range []string{"sender", "receiver"} {
		if r.bins[name], err = program(work, name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// program is a static binary: built, or taken from RIG_BIN.
func program(work, name string) ([]byte, error) {
	if dir := os.Getenv("RIG_BIN"); dir != "" {
		return os.ReadFile(filepath.Join(dir, name))
	}
	return build(work, name)
}

// build compiles a package of this module for the guest.
func build(work, pkg string) ([]byte, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(work, filepath.Base(pkg))
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./"+pkg)
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if msg, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build ./%s: %w\n%s", pkg, err, msg)
	}
	return os.ReadFile(out)
}

// moduleRoot is the folder of go.mod, found from this file's own place or
// from the working directory upwards.
func moduleRoot() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for _, from := range []string{filepath.Dir(here), wd} {
		for dir := from; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("no go.mod above this package")
}

func cacheDir() (string, error) {
	if dir := os.Getenv("RIG_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	root, err := moduleRoot()
	return filepath.Join(root, ".cache", "rig-qemu"), err
}

// initrd writes a guest's first root: init, programs, modules and script.
func (r *Rig) initrd(path, kernel string, scriptJSON []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &cpioWriter{w: f}
	for _, d := range []string{"bin", "dev", "modules", "out", "proc", "sys", "tmp"} {
		c.dir(d)
	}
	c.char("dev/console", 0o600, 5, 1)
	c.file("init", 0o755, r.init)
	for name, b := range r.bins {
		c.file("bin/"+name, 0o755, b)
	}
	order, err := os.ReadFile(filepath.Join(r.cache, kernel, "modules"))
	if err != nil {
		return err
	}
	c.file("modules/order", 0o644, order)
	for _, m := range strings.Fields(string(order)) {
		b, err := os.ReadFile(filepath.Join(r.cache, kernel, m))
		if err != nil {
			return err
		}
		c.file("modules/"+m, 0o644, b)
	}
	c.file("script.json", 0o644, scriptJSON)
	return errors.Join(c.close(), f.Close())
}
