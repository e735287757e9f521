package load

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const parentVar = "LOAD_TEST_PARENT"

// TestMain is also the supervisor, the workers, and a stand-in for the sender
// that starts the loads named in the environment and waits to be killed.
func TestMain(m *testing.M) {
	if handled, status := Child(os.Args[1:]); handled {
		os.Exit(status)
	}
	if values := os.Getenv(parentVar); values != "" {
		os.Exit(standIn(strings.Split(values, "\n")))
	}
	os.Exit(m.Run())
}

func standIn(values []string) int {
	specs, err := ParseAll(values)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, s := range specs {
		if _, err := Start(context.Background(), s); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return 1
}

// eventually waits for a condition, for a long time on a busy machine.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}
