//go:build !linux && !darwin && !freebsd && !openbsd && !netbsd && !dragonfly && !windows

package cable

import (
	"context"
	"errors"
)

func open(context.Context, string, Options) (*Port, error) {
	return nil, &Error{Err: errors.ErrUnsupported}
}

func openLoopback() (*Port, error) {
	return nil, &Error{Err: errors.ErrUnsupported}
}
