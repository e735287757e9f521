package serialport

// The settings that Config.LowLatency and Loop change, as the system calls them.
const (
	SettingFlag    = "low_latency flag"
	SettingTimer   = "latency_timer"
	SettingTrigger = "rx_trig_bytes"
	SettingLoop    = "loopback mode"
)

// Leftover is a setting that a run changed and, since it died, did not put
// back. Whoever opens the port here ends a loopback mode that is left of it,
// and with Config.LowLatency puts back the rest too.
type Leftover struct {
	Port   string // /dev/ttyUSB0
	Name   string // one of the settings
	Before string // what it was: "16", "off"
	Now    string // what it is; "" where only opening the port would tell
	Remedy string // the action that puts it back
}

// Leftovers gives what is still left of runs on this machine that died. It
// opens no port. Before such a run changes anything it writes a note, which it
// removes when all is put back: as root into /run/serialtiming, else into
// $XDG_RUNTIME_DIR/serialtiming, or serialtiming in the user's cache directory
// where there is no such. A run that lives holds a lock on its note. Only on
// Linux is anything ever changed.
func Leftovers() []Leftover { return leftovers() }
