package rawio

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Gone says whether an error means that the device was unplugged or that the
// other end of a named pipe was closed. An unplugged USB adapter shows as any
// of the last five, by driver.
func Gone(err error) bool {
	for _, e := range []windows.Errno{
		windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED,
		windows.ERROR_DEVICE_NOT_CONNECTED, windows.ERROR_DEVICE_REMOVED,
		windows.ERROR_BAD_COMMAND, windows.ERROR_GEN_FAILURE, windows.ERROR_NO_SUCH_DEVICE,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
