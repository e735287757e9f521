package serialport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inFakeTree makes a made-up sysfs and a folder of notes this package's own.
func inFakeTree(t *testing.T) sysfs {
	t.Helper()
	fake, notes := fakeTree(t), filepath.Join(t.TempDir(), "notes")
	wasSystem, wasDirs := system, noteDirs
	system, noteDirs = fake, func() []string { return []string{notes} }
	t.Cleanup(func() { system, noteDirs = wasSystem, wasDirs })
	return fake
}

// died leaves a note as a killed run does: the system closes its files.
func died(t *testing.T, tty string, c ...kept) {
	t.Helper()
	n, err := leaveNote(tty, forLatency, c)
	if err != nil {
		t.Fatal(err)
	}
	n.file.Close()
}

func TestANoteIsOfUseOnlyOnceItsRunIsDead(t *testing.T) {
	fake := inFakeTree(t)
	n, err := leaveNote("ttyUSB0", forLatency, []kept{{SettingTimer, 16}})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeNumber(fake.setting("ttyUSB0", SettingTimer), 1); err != nil {
		t.Fatal(err)
	}
	if l := Leftovers(); len(l) > 0 {
		t.Errorf("of a run that lives: %+v", l)
	}
	n.file.Close() // as by SIGKILL
	want := Leftover{Port: filepath.Join(fake.dev, "ttyUSB0"), Name: SettingTimer, Before: "16", Now: "1",
		Remedy: "echo 16 | sudo tee " + fake.setting("ttyUSB0", SettingTimer)}
	if l := Leftovers(); !slices.Equal(l, []Leftover{want}) {
		t.Errorf("%+v, want %+v", l, want)
	}
	if said := putBack("ttyUSB0", forLatency, -1); said != SettingTimer || fake.number("ttyUSB0", SettingTimer, 0) != 16 {
		t.Errorf("put back %q: the timer is %d", said, fake.number("ttyUSB0", SettingTimer, 0))
	}
	if l := Leftovers(); len(l) > 0 {
		t.Errorf("put back, and still %+v", l)
	}
	if said := putBack("ttyUSB0", forLatency, -1); said != "" {
		t.Errorf("again: %q", said)
	}
}

func TestANoteGoesWhenAllIsPutBack(t *testing.T) {
	inFakeTree(t)
	n, err := leaveNote("ttyS1", forLatency, []kept{{SettingTrigger, 8}})
	if err != nil {
		t.Fatal(err)
	}
	n.drop()
	var none *note
	none.drop()
	if files, _ := os.ReadDir(noteDirs()[0]); len(files) > 0 {
		t.Errorf("left: %v", files)
	}
	if n, err := leaveNote("ttyS1", forLatency, nil); n != nil || err != nil {
		t.Errorf("nothing changes: %v, %v", n, err)
	}
}

// What is as it was needs nobody, and a note of before the last start, or of
// an adapter that was unplugged meanwhile, tells of what is gone.
func TestNotesThatMeanNothing(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, fake sysfs, path string){
		"put back by hand": func(t *testing.T, fake sysfs, _ string) {
			if err := writeNumber(fake.setting("ttyUSB0", SettingTimer), 16); err != nil {
				t.Fatal(err)
			}
		},
		"started again": func(t *testing.T, _ sysfs, path string) { edit(t, path, bootID(), "another") },
		"plugged in again": func(t *testing.T, fake sysfs, _ string) {
			node := filepath.Join(fake.dev, "ttyUSB0")
			if err := os.Rename(node, node+".old"); err != nil { // its inode stays taken
				t.Fatal(err)
			}
			if err := os.WriteFile(node, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"unplugged": func(t *testing.T, fake sysfs, _ string) {
			if err := os.Remove(filepath.Join(fake.dev, "ttyUSB0")); err != nil {
				t.Fatal(err)
			}
		},
		"no note at all": func(t *testing.T, _ sysfs, path string) { edit(t, path, "{", "") },
	} {
		t.Run(name, func(t *testing.T) {
			fake := inFakeTree(t)
			died(t, "ttyUSB0", kept{SettingTimer, 16})
			if err := writeNumber(fake.setting("ttyUSB0", SettingTimer), 1); err != nil {
				t.Fatal(err)
			}
			spoil(t, fake, noteFile(noteDirs()[0], "ttyUSB0", forLatency))
			if l := Leftovers(); len(l) > 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), old) {
		t.Fatalf("%s: %q (%v)", path, b, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The flag of a USB adapter shows nowhere, but it holds the timer at 1 ms.
func TestAFlagThatCannotBeRead(t *testing.T) {
	fake := inFakeTree(t)
	died(t, "ttyUSB0", kept{SettingFlag, 0}, kept{SettingTimer, 16})
	if l := Leftovers(); len(l) > 0 {
		t.Errorf("the timer is as it was: %+v", l)
	}
	died(t, "ttyUSB0", kept{SettingFlag, 0}, kept{SettingTimer, 16})
	if err := writeNumber(fake.setting("ttyUSB0", SettingTimer), 1); err != nil {
		t.Fatal(err)
	}
	l := Leftovers()
	if len(l) != 2 || l[0].Name != SettingFlag || l[0].Now != "" || !strings.Contains(l[0].Remedy, "^low_latency") || l[1].Name != SettingTimer {
		t.Errorf("%+v", l)
	}
}

// That a UART hears itself shows nowhere without opening it: the note stands
// until somebody does.
func TestALoopbackModeThatIsLeft(t *testing.T) {
	inFakeTree(t)
	n, err := leaveNote("ttyS1", forLoop, []kept{{SettingLoop, 0}})
	if err != nil {
		t.Fatal(err)
	}
	both, err := leaveNote("ttyS1", forLatency, []kept{{SettingTrigger, 14}}) // beside it
	if err != nil {
		t.Fatal(err)
	}
	both.file.Close()
	n.file.Close()
	l := Leftovers()
	if len(l) != 2 || !slices.ContainsFunc(l, func(l Leftover) bool { return l.Name == SettingLoop && l.Now == "" && l.Remedy != "" }) {
		t.Errorf("%+v", l)
	}
	if said := putBack("ttyS1", forLoop, -1); said != "" || len(Leftovers()) != 2 {
		t.Errorf("without a port it was put back: %q, %+v", said, Leftovers())
	}
}

func FuzzNote(f *testing.F) {
	f.Add([]byte(`{"boot":"x","node":1,"settings":[{"name":"latency_timer","before":16}]}`))
	f.Add([]byte(`{"settings":[{"name":"../../etc/passwd","before":-1}]}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "ttyUSB0.json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n := staleNote(path)
		if n == nil {
			return
		}
		for _, k := range n.left("no such terminal") {
			if k.Name != SettingFlag && k.Name != SettingLoop { // what cannot be read is never written
				t.Errorf("%+v", k)
			}
		}
	})
}
