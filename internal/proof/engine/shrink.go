package main

import (
	"context"
	"slices"
)

// shrink leaves out requests of a sequence as long as its last one still differs in the same way.
func shrink(ctx context.Context, p *panel, s sequence, c class) (sequence, error) {
	for part := len(s) / 2; part > 0; {
		shorter := false
		for from := 0; from+part < len(s); {
			without := slices.Concat(s[:from], s[from+part:])
			still, err := differs(ctx, p, without, c)
			if err != nil {
				return s, err
			}
			if still {
				s, shorter = without, true
			} else {
				from += part
			}
		}
		if !shorter {
			part /= 2
		}
	}
	return s, nil
}

// differs says whether the last request of a sequence is answered differently, in the way of a class.
func differs(ctx context.Context, p *panel, s sequence, c class) (still bool, err error) {
	err = p.run(ctx, s, func(f finding) {
		if f.at == len(s)-1 && (class{peer: f.peer, operation: f.op.Name, Difference: f.Difference}) == c {
			still = true
		}
	})
	return still, err
}
