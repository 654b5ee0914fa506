package main

import (
	"context"
	"fmt"
)

// comparison measures everything again, and compares it with the documents. With -write it brings them up to date instead.
func comparison(ctx context.Context, p *proof) error {
	now, err := p.measure(ctx)
	if err != nil {
		return err
	}
	if p.write {
		if err := now.write("."); err != nil {
			return err
		}
		if err := now.writePages("."); err != nil {
			return err
		}
	}
	before, err := readKept(".")
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s\n%s\n", now.Whole.headlines(), now.Whole.details())
	for _, c := range now.Whole.claims() {
		p.Must("in words", c.text, "the figures bear it out", c.holds)
	}
	missing, wrong := 0, 0
	for _, f := range now.Whole.Faults {
		missing += f.Lost
	}
	for _, n := range now.Whole.Reads {
		wrong += n.Wrong
	}
	p.None("acknowledged items that are not there after a fault", missing, len(now.Whole.Faults)*faultItems)
	p.None("wrong items among the newest", wrong, len(now.Whole.Reads)*newest)
	stale := append(differences(&now.Whole, &before.Whole), differences(&now.Opening, &before.Opening)...)
	for _, d := range stale {
		fmt.Fprintf(p.Out, "stale: %s\n", d)
	}
	p.Must("figures of the documents that are stale", fmt.Sprint(len(stale)), "0, or run it with WRITE=1", len(stale) == 0)
	return nil
}

// measure runs the tests that measure, in their bubbles.
func (p *proof) measure(ctx context.Context) (k kept, err error) {
	if _, err = p.bubble.Run(ctx, &k.Opening, "TestComparison"); err != nil {
		return k, err
	}
	_, err = p.bubble.Run(ctx, &k.Whole, "TestComparison", "-long", loadTime.String())
	return k, err
}
