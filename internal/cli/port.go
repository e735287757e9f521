package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
)

// PortFlags are the flags of a port and of the thread that works on it, as
// plain values; both binaries have them.
type PortFlags struct {
	Port            string
	Baud            int
	Line            string
	LowLatency      bool
	Priority        string
	CPU             int
	RequireRealtime bool
	Label           string
	Log             string
}

// Add declares the flags.
func (p *PortFlags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&p.Port, "port", "", "")
	fs.IntVar(&p.Baud, "baud", 115200, "")
	fs.StringVar(&p.Line, "line", "8N1", "")
	fs.BoolVar(&p.LowLatency, "low-latency", false, "")
	fs.StringVar(&p.Priority, "priority", "realtime", "")
	fs.IntVar(&p.CPU, "cpu", -1, "")
	fs.BoolVar(&p.RequireRealtime, "require-realtime", false, "")
	fs.StringVar(&p.Label, "label", "", "")
	fs.StringVar(&p.Log, "log", "", "")
}

// Validate gives the first rule that the flags break. The line is the
// caller's to read.
func (p *PortFlags) Validate(fs *pflag.FlagSet) error {
	switch {
	case p.Port == "":
		return Misuse("name one with --port; `"+fs.Name()+" ports` lists them, cable is a virtual one", "no port was named")
	case p.Baud <= 0:
		return Misuse("both ends need the same --baud, such as 9600 or 115200", "%d baud is no speed", p.Baud)
	case fs.Changed("cpu") && p.CPU < 0:
		return Misuse("count processors from 0", "there is no CPU %d", p.CPU)
	}
	if err := serialport.CheckName(p.Port); err != nil {
		return Misuse(HintOf(err), "%v", err)
	}
	priority, err := realtime.ParsePriority(p.Priority)
	if err != nil {
		return Misuse("--priority takes realtime, realtime:N, high, normal or low", "%v", err)
	}
	if p.RequireRealtime && priority.Level != realtime.Realtime {
		return Misuse("drop one of them", "--require-realtime and --priority %s contradict each other", p.Priority)
	}
	return nil
}

// Request is what the flags ask of the system, for that many hot threads.
func (p *PortFlags) Request(threads int) realtime.Request {
	return realtime.Request{Priority: p.Priority, CPU: p.CPU, LockMemory: true, Threads: threads}
}

// Config is how the flags open the port, once the line has been read.
func (p *PortFlags) Config(v *Voice, data int, parity byte, stop string) serialport.Config {
	return serialport.Config{
		Baud: p.Baud, Data: data, Parity: parity, Stop: stop,
		LowLatency: p.LowLatency, ReadTimeout: 100 * time.Millisecond,
		Waiting: func(string) {
			other := map[string]string{"sender": "receiver", "receiver": "sender"}[v.program]
			v.Say("waiting up to %v for the other end of %s", serialport.DefaultPeerWait, p.Port)
			v.Hint(fmt.Sprintf("start it on this machine: %s --port %s", other, p.Port))
		},
	}
}

// Grants prints what was not granted, each distinct hint once. With
// --require-realtime a refused priority, memory or CPU is an error.
func (p *PortFlags) Grants(v *Voice, grants []realtime.Grant) error {
	said := map[string]bool{}
	var refused []string
	for _, g := range grants {
		if g.Granted() {
			continue
		}
		switch g.Item {
		case realtime.ItemPriority, realtime.ItemMemory, realtime.ItemCPU:
			refused = append(refused, fmt.Sprintf("%s %s (%s)", g.Item, g.Got, g.Why))
		}
		v.Warn("%s: asked %s, got %s: %s", g.Item, g.Asked, g.Got, g.Why)
		if !said[g.Hint] {
			said[g.Hint] = true
			v.Hint(g.Hint)
		}
	}
	if p.RequireRealtime && len(refused) > 0 {
		return WithHint(fmt.Errorf("real time was required and not granted: %s", strings.Join(refused, ", ")),
			"get the rights as hinted above, or drop --require-realtime")
	}
	return nil
}

// Settled says what the open port did not take and what runs that died have
// left, and gives the port's latency settings as grants.
func Settled(v *Voice, info serialport.Info) []realtime.Grant {
	for _, w := range info.Warnings {
		v.Warn("%s: %s", info.Name, w)
	}
	for _, l := range serialport.Leftovers() {
		v.Warn("a run died and left %s of %s changed: it was %s", l.Name, l.Port, l.Before)
		v.Hint("put it back: " + l.Remedy + ", or run with --low-latency on that port once")
	}
	var grants []realtime.Grant
	for _, s := range []struct {
		item, asked string
		serialport.Setting
	}{
		{serialport.SettingFlag, "on", info.Latency.Flag},
		{serialport.SettingTimer, "1 ms", info.Latency.Timer},
		{serialport.SettingTrigger, "1", info.Latency.Trigger},
	} {
		if s.After == "" && s.Why == "" {
			continue
		}
		got := s.After
		if got == "" {
			got = "unknown"
		}
		grants = append(grants, realtime.Grant{Item: s.item, Asked: s.asked, Got: got, Why: s.Why, Hint: s.Hint})
	}
	return grants
}

// Ports prints the ports that the system's own tables hold. It opens none.
func Ports(stdout io.Writer) error {
	ports, err := serialport.List()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PORT\tUSB\tDRIVER\tWHAT")
	for _, p := range ports {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, or(p.USB), or(p.Driver), what(p))
	}
	fmt.Fprintln(w, "cable\t-\t-\ta virtual cable between the two binaries on this machine (cable:NAME for several)")
	return w.Flush()
}

func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func what(p serialport.Info) string {
	var parts []string
	for _, s := range []string{p.UART, p.Manufacturer, p.Product} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if p.Serial != "" {
		parts = append(parts, "serial "+p.Serial)
	}
	if p.LatencyTimer > 0 {
		parts = append(parts, fmt.Sprintf("latency_timer %d ms", p.LatencyTimer))
	}
	if p.TriggerBytes > 0 {
		parts = append(parts, fmt.Sprintf("receive trigger %d", p.TriggerBytes))
	}
	return or(strings.Join(parts, ", "))
}
