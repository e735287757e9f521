package serialport

func list() ([]Info, error) { return system.list() }

// system is this machine's tree.
var system = sysfs{sys: "/sys", dev: "/dev"}
