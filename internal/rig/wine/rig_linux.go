package wine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	loader = "/usr/lib/wine/wine64"
	server = "/usr/lib/wine/wineserver64"
)

// Rig is a Wine prefix with its server, and the programs built for Windows.
type Rig struct {
	cache string // prefix and the links of the COM ports
	root  string // of the module
	work  string // logs and results
	bin   string // sender.exe, receiver.exe
	log   *os.File
	serve *exec.Cmd
}

// Missing says in a sentence each what the rig lacks on this machine.
func Missing() []string {
	var out []string
	for _, f := range []string{loader, server} {
		if _, err := os.Stat(f); err != nil {
			out = append(out, f+" is not installed")
		}
	}
	cache, err := cacheDir()
	if err != nil {
		return append(out, err.Error())
	}
	if _, err := os.Stat(filepath.Join(cache, "complete")); err != nil {
		out = append(out, "there is no prefix in "+cache)
	}
	return out
}

func cacheDir() (string, error) {
	if dir := os.Getenv("RIG_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	root, err := moduleRoot()
	return filepath.Join(root, ".cache", "rig-wine"), err
}

// moduleRoot is the folder of go.mod above this file.
func moduleRoot() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	for dir := filepath.Dir(here); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no go.mod above this package")
}

// New builds the programs, works in the folder work, and starts Wine's server.
func New(work string) (*Rig, error) {
	r := &Rig{work: work, bin: work}
	var err error
	if r.cache, err = cacheDir(); err != nil {
		return nil, err
	}
	if r.root, err = moduleRoot(); err != nil {
		return nil, err
	}
	if dir := os.Getenv("RIG_BIN"); dir != "" {
		if r.bin, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	} else if err := r.build(); err != nil {
		return nil, err
	}
	if err := r.start(); err != nil {
		return nil, err
	}
	return r, r.CheckPorts()
}

func (r *Rig) build() error {
	c := exec.Command("go", "build", "-o", r.bin+"/", "./sender", "./receiver")
	c.Dir = r.root
	c.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for Windows: %w\n%s", err, out)
	}
	return nil
}

// start keeps one server for the whole rig: a new one for each program costs
// seconds. It prints its tables when it ends, into a log that nobody needs.
func (r *Rig) start() (err error) {
	if r.log, err = os.Create(filepath.Join(r.work, "wineserver.log")); err != nil {
		return err
	}
	r.serve = exec.Command(server, "-f", "-p")
	r.serve.Env, r.serve.Stderr = r.Env(), r.log
	if err := r.serve.Start(); err != nil {
		return err
	}
	// The first program makes Wine's services, which would keep its output
	// open, and the links of the ports.
	if err := r.Command("cmd", "/c", "ver").Run(); err != nil {
		return fmt.Errorf("wine cmd /c ver: %w", err)
	}
	return nil
}

// Close ends the server and with it every program of the prefix.
func (r *Rig) Close() error {
	end := exec.Command(server, "-k")
	end.Env = r.Env()
	end.Run()
	r.serve.Wait()
	return r.log.Close()
}

// CheckPorts fails when a name of the prefix leads to a terminal of the
// machine: Wine gives COM1 to /dev/ttyS0 unless setup prevented it.
func (r *Rig) CheckPorts() error {
	devices := filepath.Join(r.cache, "prefix", "dosdevices")
	entries, err := os.ReadDir(devices)
	if err != nil {
		return err
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(devices, e.Name()))
		if err == nil && strings.HasPrefix(to, "/dev/") {
			return fmt.Errorf("%s leads to %s: remove %s and run setup again", e.Name(), to, r.cache)
		}
	}
	return nil
}

// Env is what every program of the prefix needs.
func (r *Rig) Env() []string {
	return append(os.Environ(), "WINEPREFIX="+filepath.Join(r.cache, "prefix"), "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=winemenubuilder.exe=d")
}

// Command is a Windows program; sender and receiver are those that were built.
func (r *Rig) Command(name string, args ...string) *exec.Cmd {
	if name == "sender" || name == "receiver" {
		name = filepath.Join(r.bin, name+".exe")
	}
	c := exec.Command(loader, append([]string{name}, args...)...)
	c.Env, c.Dir = r.Env(), r.work
	c.WaitDelay = 5 * time.Second
	return c
}

// Plug makes COMn lead to a pseudo-terminal.
func (r *Rig) Plug(port, to string) error {
	link := filepath.Join(r.cache, strings.ToLower(port))
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(to, link)
}
