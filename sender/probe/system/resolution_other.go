//go:build !windows

package system

import "errors"

const hasTimerResolution = false

func timerResolution() (current, finest int64, err error) { return 0, 0, errors.ErrUnsupported }

func beginPeriod(uint32) error { return errors.ErrUnsupported }

func endPeriod(uint32) error { return errors.ErrUnsupported }

func multimediaTime() (uint32, bool) { return 0, false }

func sleepMillisecond() {}

func runtimeAsks() bool { return false }
