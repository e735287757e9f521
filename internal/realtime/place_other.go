//go:build !linux

package realtime

import "errors"

func (*observed) processor() (int, bool) { return 0, false }

type placed struct{}

func (*placed) open() {}

func (*placed) move(int, bool) (string, error) { return "", errors.ErrUnsupported }
