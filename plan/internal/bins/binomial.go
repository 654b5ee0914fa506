package bins

import "math"

// negligible is a probability that changes no answer.
const negligible = 1e-15

// factorials are logarithms of n!, for as many n as are needed.
type factorials []float64

func newFactorials(n int) factorials {
	f := make(factorials, n+1)
	for i := 2; i <= n; i++ {
		f[i] = f[i-1] + math.Log(float64(i))
	}
	return f
}

// binomial is the distribution of how many of n balls fall into a bin that each hits with probability p, 0 < p < 1.
type binomial struct {
	factorials
	n int
	p float64
}

func (f factorials) binomial(n int, p float64) binomial { return binomial{f, n, p} }

func (b binomial) mode() int { return min(int(float64(b.n+1)*b.p), b.n) }

// at returns the probability of k.
func (b binomial) at(k int) float64 {
	f := b.factorials
	return math.Exp(f[b.n] - f[k] - f[b.n-k] + float64(k)*math.Log(b.p) + float64(b.n-k)*math.Log1p(-b.p))
}

// each calls do with every number of balls that is not negligible, and its probability, in no particular order.
func (b binomial) each(do func(k int, probability float64)) {
	odds, mode := b.p/(1-b.p), b.mode()
	top := b.at(mode)
	for k, q := mode, top; q >= negligible; k++ {
		do(k, q)
		q *= odds * float64(b.n-k) / float64(k+1) // zero after the last
	}
	for k, q := mode, top; k > 0; k-- {
		if q *= float64(k) / (odds * float64(b.n-k+1)); q < negligible {
			break
		}
		do(k-1, q)
	}
}

// split returns the average of left(k) × right(n − k).
func (b binomial) split(left, right window) float64 {
	low := max(left.first, b.n-right.last())
	high := min(left.last(), b.n-right.first)
	if low > high {
		return 0
	}
	odds, start, sum := b.p/(1-b.p), min(max(b.mode(), low), high), 0.0
	top := b.at(start)
	for k, q := start, top; k <= high && q >= negligible; k++ {
		sum += q * left.p[k-left.first] * right.p[b.n-k-right.first]
		q *= odds * float64(b.n-k) / float64(k+1)
	}
	for k, q := start, top; k > low; k-- {
		if q *= float64(k) / (odds * float64(b.n-k+1)); q < negligible {
			break
		}
		sum += q * left.p[k-1-left.first] * right.p[b.n-k+1-right.first]
	}
	return sum
}

// window is a function of neighbouring numbers, zero elsewhere.
type window struct {
	first int
	p     []float64
}

func (w window) last() int { return w.first + len(w.p) - 1 }
