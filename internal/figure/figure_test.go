package figure_test

import (
	"math"
	"testing"

	"github.com/heatsink-go/heatsink/internal/figure"
)

func TestThousands(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", -0.4: "0", 0.5: "0", 1.5: "2", 999.4: "999", 999.6: "1,000", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567",
		-1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456", 1e15: "1,000,000,000,000,000",
		math.Inf(1): "+Inf", math.Inf(-1): "-Inf",
	} {
		if got := figure.Thousands(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
	if got := figure.Thousands(math.NaN()); got != "NaN" {
		t.Errorf("got %s, want NaN", got)
	}
	for n, want := range map[int64]string{
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808", 12: "12", -1234: "-1,234",
	} {
		if got := figure.Thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 items", 1: "1 item", 2: "2 items", 1200: "1,200 items"} {
		if got := figure.Count(n, "item"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1,023 bytes", 1024: "1.0 KB", 1 << 20: "1.0 MB", 3 << 29: "1.5 GB", 1 << 42: "4096.0 GB"} {
		if got := figure.Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
