package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrLaw is wrapped when options of a Law contradict each other or make no sense.
var ErrLaw = errors.New("invalid options of the control law")

// LawOptions are the numbers of the law. The zero value of a field means its default. Rates are write units per second.
type LawOptions struct {
	// Target is the rate that a shard is to have after growth. A partition takes 1,000. Default 500.
	Target float64
	// High is the rate of a shard from which a key grows. Default 700.
	High float64
	// Headroom is how much more than the present rate a growth makes room for. Default 1.25.
	Headroom float64
	// Futile is the rate of a shard below which growth does not help: its throttles have another cause. Once that was decided, it
	// takes a quarter more to grow. Default 200.
	Futile float64
	// Throttled is the share of throttled units from which a key grows though its rate is below High. Default 0.01.
	Throttled float64
	// Uneasy is the share, smoothed over four reports, from which it grows as well. A few shards may be on one partition, whose
	// throttles are few among those of all. Default 0.0005.
	Uneasy float64
	// Reports is how many reports in a row must agree, that a key is to grow or that growth is futile. If the rate rises from one to the next, there are up to Reports
	// more: a rising rate is measured too low, and the cooldown would keep what was made of it. Default 2.
	Reports int

	// Tick is the time between two reports of a key. Default 5 s.
	Tick time.Duration
	// Phase is how long after its first operation a key is first reported. Draw it below Tick, so that processes do not
	// report together. Default Tick.
	Phase time.Duration
	// Alert is the time between two reports of a key that begins to be throttled, and Alerts is how many of these come
	// before Tick applies again. They keep a sudden load from waiting for two ticks. Defaults 1 s and 5.
	Alert  time.Duration
	Alerts int
	// Report is the rate in this process from which a key is reported. A key that is throttled always is. Default 25.
	Report float64

	// Cooldown is the time between two growths of a key. Default 15 s.
	Cooldown time.Duration
	// PerMinute is how many growths this process makes in a minute, of all keys. Default 10.
	PerMinute int
	// MaxWidth is the largest width, 1,024 at most. Default 256.
	MaxWidth int

	// Frozen keeps all keys as they are. DryRun decides, and does not grow.
	Frozen, DryRun bool

	// MaxKeys is how many keys are watched at once. Those beyond it wait until others are cold. Default 4,096.
	MaxKeys int
}

// defaultMaxWidth is the largest width if MaxWidth says nothing.
const defaultMaxWidth = 256

// HardWidth is the largest width that MaxWidth may allow. Every read of all shards pays for each of them.
const HardWidth = 1024

func (o LawOptions) withDefaults() (LawOptions, error) {
	err := errors.Join(
		fill(&o.Target, "Target", 500),
		fill(&o.High, "High", 700),
		fill(&o.Headroom, "Headroom", 1.25),
		fill(&o.Futile, "Futile", 200),
		fill(&o.Throttled, "Throttled", 0.01),
		fill(&o.Uneasy, "Uneasy", 0.0005),
		fill(&o.Report, "Report", 25),
		fill(&o.Reports, "Reports", 2),
		fill(&o.Alerts, "Alerts", 5),
		fill(&o.PerMinute, "PerMinute", 10),
		fill(&o.MaxWidth, "MaxWidth", defaultMaxWidth),
		fill(&o.MaxKeys, "MaxKeys", 4096),
		fill(&o.Tick, "Tick", 5*time.Second),
		fill(&o.Alert, "Alert", time.Second),
		fill(&o.Cooldown, "Cooldown", 15*time.Second),
	)
	if err != nil {
		return o, err
	}
	if o.Phase <= 0 || o.Phase > o.Tick {
		o.Phase = o.Tick
	}
	switch {
	case o.Target > o.High:
		return o, fmt.Errorf("%w: Target %v is above High %v, so that a key would grow for ever", ErrLaw, o.Target, o.High)
	case o.Futile > o.Target:
		return o, fmt.Errorf("%w: Futile %v is above Target %v, so that growth would never help", ErrLaw, o.Futile, o.Target)
	case o.MaxWidth > HardWidth:
		return o, fmt.Errorf("%w: MaxWidth %d: there are %d shards at most, as each read pays for all", ErrLaw, o.MaxWidth, HardWidth)
	}
	return o, nil
}

// fill gives a field that is zero its default. A field that is negative or not a finite number is an error.
func fill[N int | float64 | time.Duration](field *N, name string, value N) error {
	if !(*field >= 0) || math.IsInf(float64(*field), 0) {
		return fmt.Errorf("%w: %s is %v: want more than 0", ErrLaw, name, *field)
	}
	*field = cmp.Or(*field, value)
	return nil
}
