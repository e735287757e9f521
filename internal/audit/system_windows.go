package audit

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"serialtiming/internal/serialport"
)

var (
	ntdll    = windows.NewLazySystemDLL("ntdll.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")

	procQueryResolution = ntdll.NewProc("NtQueryTimerResolution")
	procProcessInfo     = kernel32.NewProc("GetProcessInformation")
)

func system() []Item {
	var items []Item
	add := func(i Item, ok bool) {
		if ok {
			items = append(items, i)
		}
	}
	if r, ok := timerResolution(); ok {
		add(resolutionItem(r), true)
	}
	if class, err := windows.GetPriorityClass(windows.CurrentProcess()); err == nil {
		add(priorityClass(class), true)
	}
	add(throttled())
	add(globalRequests())
	add(virtual())
	return items
}

func timerResolution() (r Resolution, ok bool) {
	if procQueryResolution.Find() != nil {
		return r, false
	}
	status, _, _ := procQueryResolution.Call(uintptr(unsafe.Pointer(&r.Coarsest)),
		uintptr(unsafe.Pointer(&r.Finest)), uintptr(unsafe.Pointer(&r.Now)))
	return r, status == 0 && r.Now > 0
}

// throttled asks what power throttling does to this process.
func throttled() (Item, bool) {
	const processPowerThrottling = 4
	state := struct{ version, control, state uint32 }{version: 1}
	if procProcessInfo.Find() != nil {
		return Item{}, false
	}
	done, _, _ := procProcessInfo.Call(uintptr(windows.CurrentProcess()), processPowerThrottling,
		uintptr(unsafe.Pointer(&state)), unsafe.Sizeof(state))
	if done == 0 {
		return Item{}, false
	}
	return powerThrottling(state.control, state.state, windows.RtlGetVersion().BuildNumber)
}

// slewPPM: the time service bends the time of day only. The performance
// counter, by which this program stamps, runs as its crystal does.
func slewPPM() (float64, bool) { return 0, true }

// globalRequests reads the switch that brings back the one resolution for all.
func globalRequests() (Item, bool) {
	n, ok := number(`SYSTEM\CurrentControlSet\Control\Session Manager\kernel`, "GlobalTimerResolutionRequests")
	return Item{AreaClock, "GlobalTimerResolutionRequests", "1", "another process's request speeds up this one's sleeps too: a run may depend on what else is open",
		"set this process's own: --timer-resolution", Yellow}, ok && n == 1
}

func virtual() (Item, bool) {
	const bios = `HARDWARE\DESCRIPTION\System\BIOS`
	name := strings.TrimSpace(text(bios, "SystemManufacturer") + " " + text(bios, "SystemProductName"))
	if name == "" {
		return Item{}, false
	}
	s := sysctls{
		text:   func(key string) (string, bool) { return name, key == "hw.product" },
		number: func(string) (int64, bool) { return 0, false },
	}
	return s.virtual()
}

// portSystem reads the settings of the serial driver for one port.
func portSystem(info serialport.Info) []Item {
	var items []Item
	const service = `SYSTEM\CurrentControlSet\Services\Serial`
	forced, receive := setting(service, "ForceFifoEnable"), setting(service, "RxFIFO")
	if parameters := deviceParameters(info.Name); parameters != "" {
		if v := setting(parameters, "ForceFifoEnable"); v >= 0 {
			forced = v
		}
		if v := setting(parameters, "RxFIFO"); v >= 0 {
			receive = v
		}
		for _, name := range []string{"SelectiveSuspendEnabled", "EnhancedPowerManagementEnabled"} {
			if setting(parameters, name) > 0 {
				items = append(items, Item{AreaPort, name, "1", "an idle adapter may be put to sleep: the first characters after a silence come late",
					"forbid it in the device's power management settings", Yellow})
			}
		}
	}
	if info.USB == "" {
		if i, ok := fifoItem(forced, receive); ok {
			items = append(items, i)
		}
	}
	return items
}

// deviceParameters finds the key of the device that has a port's name.
func deviceParameters(port string) string {
	const enum = `SYSTEM\CurrentControlSet\Enum`
	for _, enumerator := range subkeys(enum) {
		for _, device := range subkeys(enum + `\` + enumerator) {
			for _, instance := range subkeys(enum + `\` + enumerator + `\` + device) {
				path := strings.Join([]string{enum, enumerator, device, instance, "Device Parameters"}, `\`)
				if strings.EqualFold(text(path, "PortName"), port) {
					return path
				}
			}
		}
	}
	return ""
}

func subkeys(path string) []string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.ENUMERATE_SUB_KEYS)
	if err != nil {
		return nil
	}
	defer k.Close()
	names, _ := k.ReadSubKeyNames(-1)
	return names
}

func text(path, name string) string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	s, _, _ := k.GetStringValue(name)
	return cleaned(s)
}

func number(path, name string) (uint64, bool) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return 0, false
	}
	defer k.Close()
	n, _, err := k.GetIntegerValue(name)
	return n, err == nil
}

// setting is a number, -1 where it is not set.
func setting(path, name string) int {
	if n, ok := number(path, name); ok {
		return int(n)
	}
	return -1
}
