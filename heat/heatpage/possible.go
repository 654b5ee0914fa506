package heatpage

import (
	"math"
	"reflect"
)

// mostShown is the largest figure that a page shows. It is far above what tables serve, and sums of such figures are numbers.
const mostShown = 1e15

// possible makes the figures of what a pointer leads to such that JSON holds them and their sums, and returns how many it changed.
func possible(of any) int { return possibleValue(reflect.ValueOf(of)) }

func possibleValue(v reflect.Value) (changed int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			changed += possibleValue(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				changed += possibleValue(f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			changed += possibleValue(v.Index(i))
		}
	case reflect.Float64:
		x := v.Float()
		if math.Abs(x) <= mostShown {
			return 0
		}
		if math.IsNaN(x) {
			x = 0
		}
		v.SetFloat(max(-mostShown, min(mostShown, x)))
		return 1
	}
	return changed
}
