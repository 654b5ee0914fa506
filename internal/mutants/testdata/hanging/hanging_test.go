package hanging

import (
	"os"
	"os/exec"
	"testing"
)

func TestHanging(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.Stdout = os.Stdout // it keeps the output of the test open
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}
