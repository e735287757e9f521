//go:build !linux && !windows

package system

import "errors"

const hasTimerSlack = false

func setTimerSlack(int64) (int64, error) { return 0, errors.ErrUnsupported }
