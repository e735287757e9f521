package audit

import (
	"strings"
	"testing"

	"serialtiming/internal/serialport"
)

func TestWindowsFacts(t *testing.T) {
	for _, c := range []struct {
		name  string
		item  Item
		value string
		level Level
	}{
		{"default resolution", resolutionItem(Resolution{156_250, 156_250, 5000}), "15.625ms now, 500µs to 15.625ms possible", Red},
		{"1 ms", resolutionItem(Resolution{10_000, 156_250, 5000}), "1ms now, 500µs to 15.625ms possible", Green},
		{"normal class", priorityClass(0x20), "normal", Green},
		{"a class of the future", priorityClass(0x12), "0x12", Green},
		{"no SMI", smi(0, 100), "0 since the boot", Green},
		{"an SMI an hour is little", smi(2, 7201), "2 since the boot", Green},
		{"some SMI", smi(100, 3600), "100 since the boot", Yellow},
		{"many SMI", smi(100_000, 3600), "100000 since the boot", Red},
		{"settled clock", slewItem(-12.5, true), "-12.5 ppm", Green},
		{"no service", slewItem(0, false), "+0.0 ppm, no time service", Green},
		{"pulled clock", slewItem(480, true), "+480.0 ppm", Yellow},
		{"latency timer", latencyItem(16), "16 ms", Red},
		{"set", latencyItem(1), "1 ms", Green},
		{"trigger", triggerItem(14), "14", Yellow},
		{"no trigger", triggerItem(1), "1", Green},
		{"full speed", usbSpeed("12"), "12 Mbit/s", Yellow},
		{"high speed", usbSpeed("480"), "480 Mbit/s", Green},
	} {
		if c.item.Value != c.value || c.item.Level != c.level || wellFormed(c.item) != "" {
			t.Errorf("%s: %+v %s", c.name, c.item, wellFormed(c.item))
		}
	}
}

func TestPowerThrottling(t *testing.T) {
	for _, c := range []struct {
		control, state, build uint32
		value                 string
		ok                    bool
	}{
		{0, 0, 10240, "", false},
		{0, 0, 19045, "as Windows chooses", true},
		{1, 0, 19045, "off", true},
		{1, 1, 19045, "on", true},
		{1, 0, 22631, "as Windows chooses", true}, // the resolution is left open
		{5, 0, 22631, "off", true},
		{5, 4, 22631, "on", true},
	} {
		i, ok := powerThrottling(c.control, c.state, c.build)
		if ok != c.ok || ok && (i.Value != c.value || wellFormed(i) != "") {
			t.Errorf("control %d state %d build %d: %+v %v", c.control, c.state, c.build, i, ok)
		}
	}
}

func TestFIFOOfWindows(t *testing.T) {
	for _, c := range []struct {
		forced, receive int
		want            string
	}{{0, 8, "FIFO off"}, {1, 8, "RxFIFO 8"}, {-1, 14, "RxFIFO 14"}, {-1, -1, ""}} {
		i, ok := fifoItem(c.forced, c.receive)
		if got := strings.TrimSpace(i.Name + " " + i.Value); got != c.want || ok != (c.want != "") {
			t.Errorf("%d, %d: %q", c.forced, c.receive, got)
		}
	}
}

func TestSysctls(t *testing.T) {
	system := func(hz int64, texts map[string]string, numbers map[string]int64) sysctls {
		return sysctls{
			hz:     hz,
			text:   func(n string) (string, bool) { s, ok := texts[n]; return s, ok },
			number: func(n string) (int64, bool) { v, ok := numbers[n]; return v, ok },
		}
	}
	for _, c := range []struct {
		name string
		s    sysctls
		want string // names, levels by a sign
	}{
		{"nothing", system(0, nil, nil), ""},
		{"FreeBSD", system(1000, map[string]string{"kern.timecounter.hardware": "TSC-low", "kern.vm_guest": "none", "dev.cpu.0.cx_lowest": "C8"},
			map[string]int64{"hw.ncpu": 4, "kern.eventtimer.periodic": 0}), "tick kern.timecounter.hardware processors ~idle states virtual machine"},
		{"OpenBSD", system(100, map[string]string{"kern.timecounter.hardware": "acpihpet0", "hw.vendor": "QEMU", "hw.product": "PC", "hw.perfpolicy": "auto"},
			map[string]int64{"hw.ncpuonline": 1, "hw.smt": 1}),
			"~tick ~kern.timecounter.hardware ~processors ~hyper-threading ~performance policy ~virtual machine"},
		{"macOS", system(100, nil, map[string]int64{"hw.ncpu": 8, "kern.hv_vmm_present": 0, "kern.timer.coalescing_enabled": 1}),
			"~tick ~timer coalescing processors virtual machine"},
	} {
		var got []string
		for _, i := range c.s.items() {
			sign := [...]string{"", "~", "!"}[i.Level]
			got = append(got, sign+i.Name)
			if why := wellFormed(i); why != "" {
				t.Errorf("%s: %+v %s", c.name, i, why)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLeftoversAreItems(t *testing.T) {
	items := leftItems([]serialport.Leftover{
		{Port: "/dev/ttyUSB0", Name: serialport.SettingTimer, Before: "16", Now: "1", Remedy: "echo 16"},
		{Port: "/dev/ttyUSB0", Name: serialport.SettingFlag, Before: "off", Remedy: "setserial"},
	})
	for k, want := range []string{"1, was 16", "was off"} {
		if i := items[k]; i.Value != want || wellFormed(i) != "" || i.Level != Yellow {
			t.Errorf("%+v %s", i, wellFormed(i))
		}
	}
}
