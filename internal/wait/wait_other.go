//go:build !linux && !windows && !darwin && !freebsd && !openbsd

package wait

import (
	"errors"

	"serialtiming/internal/clock"
)

// Systems without a wait of their own here: everything is unsupported.

const defaultKind = Absolute

func call(Kind) string { return "" }

func (w *Waiter) open(clock.Instant) error { return errors.ErrUnsupported }

func (w *Waiter) close() error { return nil }

func (w *Waiter) until(now, _ clock.Instant) clock.Instant { return now }

func (w *Waiter) sleepUntil(now, _ clock.Instant) clock.Instant { return now }
