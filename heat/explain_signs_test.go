package heat

import (
	"math"
	"testing"
	"time"
)

func TestThreeDigits(t *testing.T) {
	for given, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 4_554_751 * time.Microsecond: "4.55s", 100 * time.Millisecond: "100ms", 12_345 * time.Microsecond: "12.3ms", 99_960 * time.Millisecond: "1m40s",
		math.MaxInt64: "2561111h6m40s", -time.Second: "-1s",
	} {
		if got := threeDigits(given).String(); got != want {
			t.Errorf("%d: got %s, want %s", given, got, want)
		}
	}
}
