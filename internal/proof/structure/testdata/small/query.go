package small

import "example.com/small/internal/shared"

// List has as many methods as Store, all in this file, and two type parameters.
type List[K comparable, V any] struct {
	keys   []K
	values []V
}

func (l *List[K, V]) One() int { return shared.Two() }
func (l *List[K, _]) Two() int { return 2 }
func (l *List[K, V]) Three()   {}
func (l List[K, V]) Four()     {}
func (l List[_, _]) five() int { return 5 }
func (s *Store) Query() int    { return (&List[int, int]{}).One() }
func (s *Store) notOnTheWay()  {}

type pair[T any] struct{ a, b T }

func (p pair[T]) sum() {}
