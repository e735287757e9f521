//go:build rig && linux

package wine

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	// notUnderWine need the go command, Linux programs or a Linux guest.
	notUnderWine = regexp.MustCompile(`/internal/(house|bench|rig/qemu)(/|$)`)

	// notWithWine compares the performance counter with Go's own clock, which
	// is Wine's interrupt time: it stands still and jumps by up to 0.1 s.
	notWithWine = "^TestNowKeepsTheTime$"
)

// TestPackages runs the tests of all packages, those of internal/serialport on
// the rig's own line.
func TestPackages(t *testing.T) {
	plug(t)
	args := append([]string{"test", "-json", "-count=1", "-timeout=4m", "-exec", loader, "-skip", notWithWine}, underWine(t)...)
	c := exec.Command("go", args...)
	c.Dir = theRig.root
	c.Env = append(theRig.Env(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "SERIALTIMING_PORTS=COM1,COM12")
	c.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	v := judge(stdout.Bytes())
	t.Logf("%d tests passed, %d were skipped, %d passed but for Wine's deletion", v.passed, v.skipped, v.forgiven)
	if err != nil && v.forgiven == 0 && len(v.failed) == 0 {
		t.Errorf("go test: %v", err)
	}
	if len(v.failed) > 0 {
		t.Errorf("failed: %s\n%s%s", strings.Join(v.failed, ", "), v.output, stderr.String())
	}
	if !slices.Contains(v.ran, "serialtiming/internal/serialport.TestWindowsPortCarriesEverything") {
		t.Error("the tests of internal/serialport did not run on the rig's line")
	}
}

func underWine(t *testing.T) (packages []string) {
	t.Helper()
	list := exec.Command("go", "list", "./...")
	list.Dir = theRig.root
	list.Env = append(list.Environ(), "GOOS=windows")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		if !notUnderWine.MatchString(pkg) {
			packages = append(packages, pkg)
		}
	}
	return packages
}
