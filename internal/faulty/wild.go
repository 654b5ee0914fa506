package faulty

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"
)

// What nobody should choose, and what somebody might, by the kind of a setting.
var (
	wildDurations = []time.Duration{
		-1, 1, time.Microsecond, time.Millisecond, time.Second, 2 * time.Hour, 400 * 24 * time.Hour, math.MinInt64, math.MaxInt64,
	}
	wildInts    = []int64{-1, 1, 2, 7, 1000, 100_000, math.MinInt64, math.MaxInt64}
	wildStrings = []string{"pk", "sk", "ttl", "a", "#", "\x00", "日本", "\xff", strings.Repeat("x", 300), strings.Repeat("y", 70_000)}
	wildFloats  = []float64{-1, 0.5, 1, 2, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
)

// Wild gives a third of the settings in a struct that options points to values that nobody should choose, or that go badly
// with others. It leaves interfaces, pointers, functions and slices alone.
func Wild(random *rand.Rand, options any) { wild(random, reflect.ValueOf(options).Elem()) }

func wild(random *rand.Rand, v reflect.Value) {
	if v.Kind() == reflect.Struct {
		for _, field := range v.Fields() {
			if field.CanSet() {
				wild(random, field)
			}
		}
		return
	}
	if random.IntN(3) > 0 {
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(wildDurations[random.IntN(len(wildDurations))]))
	case v.CanInt():
		v.SetInt(wildInts[random.IntN(len(wildInts))])
	case v.CanUint():
		v.SetUint(random.Uint64N(256))
	case v.CanFloat():
		v.SetFloat(wildFloats[random.IntN(len(wildFloats))])
	case v.Kind() == reflect.String:
		v.SetString(wildStrings[random.IntN(len(wildStrings))])
	case v.Kind() == reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	}
}
