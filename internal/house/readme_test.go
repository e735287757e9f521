package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// helps are the commands whose help the README shows.
var helps = []string{"sender --help", "sender probe --help", "receiver --help", "receiver replay --help", "receiver compare --help", "receiver check --help"}

// helpBlock finds the fenced block behind the mark of a command's help.
func helpBlock(t *testing.T, text, command string) (from, to int) {
	t.Helper()
	mark := "<!-- " + command + " -->\n```\n"
	i := strings.Index(text, mark)
	if i < 0 {
		t.Fatalf("README has no block %q", mark)
	}
	from = i + len(mark)
	n := strings.Index(text[from:], "```")
	return from, from + n
}

// TestReadmeShowsTheHelp holds the README to --help. With UPDATE_README=1 it
// writes the help into it.
func TestReadmeShowsTheHelp(t *testing.T) {
	text := readme(t)
	for _, command := range helps {
		words := strings.Fields(command)
		p := start(t, words[0], words[1:]...)
		p.wait()
		help := p.stdout.String()
		from, to := helpBlock(t, text, command)
		if text[from:to] == help {
			continue
		}
		if os.Getenv("UPDATE_README") == "" {
			t.Errorf("the README's block for %s is not its output (UPDATE_README=1 writes it)", command)
			continue
		}
		text = text[:from] + help + text[to:]
		if err := os.WriteFile("../../README.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHelpNamesEveryFlag compares the help with the flags that the sources
// declare.
func TestHelpNamesEveryFlag(t *testing.T) {
	declared := regexp.MustCompile(`fs\.(?:String|Int|Int64|Bool|Float64|Duration|StringArray)(?:Var)?\((?:&[^,]+, )?"([a-z-]+)"`)
	shared, err := os.ReadFile("../cli/flags.go")
	if err != nil {
		t.Fatal(err)
	}
	port, err := os.ReadFile("../cli/port.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sender", "receiver"} {
		files, _ := filepath.Glob("../../" + name + "/*.go")
		sources := append([]byte{}, port...)
		if name == "receiver" {
			sources = append(sources, shared...)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f, "_test.go") {
				sources = append(sources, b...)
			}
		}
		help, found := "", 0
		for _, command := range helps {
			if words := strings.Fields(command); words[0] == name {
				p := start(t, name, words[1:]...)
				p.wait()
				help += p.stdout.String()
			}
		}
		for _, m := range declared.FindAllSubmatch(sources, -1) {
			found++
			if !regexp.MustCompile(`--` + string(m[1]) + `\b`).MatchString(help) {
				t.Errorf("%s --help does not name --%s", name, m[1])
			}
		}
		if found < 10 {
			t.Errorf("%s: only %d flags found in the sources", name, found)
		}
	}
}

// TestReadmeCommandsRun executes the README's sh blocks in order, in one
// shell, with the ports of the examples replaced by virtual cables of its own.
func TestReadmeCommandsRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the README's commands are for a Unix shell")
	}
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(work, "bin")); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(blocks) < 4 {
		t.Fatalf("only %d sh blocks in the README", len(blocks))
	}
	var script []string
	port, own := regexp.MustCompile(`/dev/tty\w+|COM\d+|\bcable:\w+`), cable(t)
	for i, b := range blocks {
		text := port.ReplaceAllString(strings.TrimRight(b[1], "\n"), own)
		if i == 0 {
			text += " &\nfirst=$!" // the other machine
		}
		script = append(script, text)
		if i == 1 {
			script = append(script, "wait $first")
		}
	}
	cmd := exec.Command("sh", "-ec", strings.Join(script, "\n"))
	cmd.Dir = work
	cmd.Env = append(cmd.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(script, "\n"), out)
	}
	for _, want := range []string{" M-Sec  Count (no interface operations)", " M-Sec  Count (two shells)", "run,label,msec,count", " B  phases.csv (log)"} {
		if !slices.Contains(strings.Split(string(out), "\n"), want) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}
