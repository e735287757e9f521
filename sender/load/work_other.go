//go:build !linux && !darwin && !freebsd && !openbsd && !windows

package load

import "errors"

func (w *worker) command() error { return errors.ErrUnsupported }

func takeMemory(int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func giveMemory([]byte) error { return errors.ErrUnsupported }

func createDoomed(string) (file, error) { return nil, errors.ErrUnsupported }

func outOfSpace(error) bool { return false }

func setPriority(string) error { return errors.ErrUnsupported }

func diskFree(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }

func preferKill() {}

func memoryFree() (int64, bool) { return 0, false }

type gate struct{}

func newGate() (*gate, error) { return nil, errors.ErrUnsupported }

func (g *gate) wait() {}
func (g *gate) open() {}
