package serialport

import (
	"errors"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const enumTree = `SYSTEM\CurrentControlSet\Enum`

// list takes the names from HARDWARE\DEVICEMAP\SERIALCOMM, where each driver
// enters the ports that exist now, and what they are from the Enum tree.
func list() ([]Info, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DEVICEMAP\SERIALCOMM`, registry.QUERY_VALUE)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		return nil, nil // no port has been there since the start
	}
	if err != nil {
		return nil, err
	}
	defer key.Close()
	values, err := key.ReadValueNames(-1)
	if err != nil {
		return nil, err
	}
	known := enumerated()
	var all []Info
	for _, v := range values {
		name, _, err := key.GetStringValue(v)
		if err != nil || name == "" {
			continue
		}
		i := known[name].Info
		if i.Name == "" {
			i = Info{Name: name, LatencyTimer: -1}
		}
		all = append(all, i)
	}
	return all, nil
}

// found is one device of the Enum tree that has a port's name; started if it
// is plugged in (its volatile key Control exists then).
type found struct {
	Info
	started bool
}

// enumerated maps names to devices. Devices that were unplugged keep their
// entries and names: one that is started goes before them.
func enumerated() map[string]found {
	all := map[string]found{}
	for _, enumerator := range subkeys(enumTree) {
		for _, device := range subkeys(enumTree, enumerator) {
			for _, instance := range subkeys(enumTree, enumerator, device) {
				f, ok := inspectDevice(enumerator, device, instance)
				if old := all[f.Name]; ok && (old.Name == "" || f.started && !old.started) {
					all[f.Name] = f
				}
			}
		}
	}
	return all
}

// inspectDevice reads one device; false if it is no port.
func inspectDevice(enumerator, device, instance string) (found, bool) {
	dir := []string{enumTree, enumerator, device, instance}
	parameters := append(dir, "Device Parameters")
	name := stringValue("PortName", parameters...)
	if name == "" || strings.HasPrefix(name, "LPT") {
		return found{}, false
	}
	f := found{Info: Info{
		Name:         name,
		Driver:       cleaned(stringValue("Service", dir...)),
		Manufacturer: resourceText(stringValue("Mfg", dir...)),
		Product:      friendly(stringValue("FriendlyName", dir...), name),
		LatencyTimer: numberValue("LatencyTimer", -1, parameters...),
	}}
	f.Virtual = strings.EqualFold(f.Driver, "com0com")
	f.USB, f.Serial = parseDeviceID(enumerator, device, instance)
	if k, err := openKey(append(dir, "Control")...); err == nil {
		f.started = true
		k.Close()
	}
	return f, true
}

// resourceText takes the text out of "@oem12.inf,%ftdi%;FTDI".
func resourceText(s string) string { return cleaned(s[strings.LastIndex(s, ";")+1:]) }

func openKey(path ...string) (registry.Key, error) {
	const access = registry.QUERY_VALUE | registry.ENUMERATE_SUB_KEYS
	return registry.OpenKey(registry.LOCAL_MACHINE, strings.Join(path, `\`), access)
}

func subkeys(path ...string) []string {
	k, err := openKey(path...)
	if err != nil {
		return nil
	}
	defer k.Close()
	names, _ := k.ReadSubKeyNames(-1)
	return names
}

func stringValue(name string, path ...string) string {
	k, err := openKey(path...)
	if err != nil {
		return ""
	}
	defer k.Close()
	s, _, err := k.GetStringValue(name)
	if err != nil {
		return ""
	}
	return s
}

func numberValue(name string, unknown int, path ...string) int {
	k, err := openKey(path...)
	if err != nil {
		return unknown
	}
	defer k.Close()
	n, _, err := k.GetIntegerValue(name)
	if err != nil {
		return unknown
	}
	return int(n)
}
