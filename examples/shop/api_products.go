package main

import (
	"net/http"
	"time"
	"unicode/utf8"
)

func (s *shop) postLike(r *http.Request) (answer, error) {
	product, err := nameIn(r, "product")
	if err != nil {
		return answer{}, err
	}
	return done, s.likes.counter.Add(r.Context(), product, 1)
}

func (s *shop) getLikes(r *http.Request) (answer, error) {
	product, err := nameIn(r, "product")
	if err != nil {
		return answer{}, err
	}
	total, err := s.likes.counter.Total(r.Context(), product)
	if err != nil {
		return answer{}, err
	}
	return ok(map[string]any{"product": product, "likes": total})
}

func (s *shop) postView(r *http.Request) (answer, error) {
	product, err := nameIn(r, "product")
	if err != nil {
		return answer{}, err
	}
	client, err := clientOf(r)
	if err != nil {
		return answer{}, err
	}
	referrer := r.Referer()
	if len(referrer) > 2000 || !utf8.ValidString(referrer) {
		return answer{}, bad("header Referer has %d bytes: want at most 2000, in UTF-8", len(referrer))
	}
	return done, s.views.add(r.Context(), product, view{client, referrer})
}

// seen is a view as clients get it.
type seen struct {
	At       time.Time `json:"at"`
	Client   string    `json:"client"`
	Referrer string    `json:"referrer,omitempty"`
}

func (s *shop) listViews(r *http.Request) (answer, error) {
	product, err := nameIn(r, "product")
	if err != nil {
		return answer{}, err
	}
	of, err := dayOf(r)
	if err != nil {
		return answer{}, err
	}
	limit, token, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := s.views.list(r.Context(), product, of, limit, token)
	if err != nil {
		return answer{}, err
	}
	views := list[seen]{Items: make([]seen, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		views.Items[i] = seen{e.At, e.Body.Client, e.Body.Referrer}
	}
	return ok(views)
}

// countViews answers how many views a product had on each of the last seven days.
func (s *shop) countViews(r *http.Request) (answer, error) {
	product, err := nameIn(r, "product")
	if err != nil {
		return answer{}, err
	}
	days := make(map[string]int)
	today := time.Now().UTC().Truncate(day)
	for i := range 7 {
		of := today.Add(-time.Duration(i) * day)
		if days[of.Format(time.DateOnly)], err = s.views.count(r.Context(), product, of); err != nil {
			return answer{}, err
		}
	}
	return ok(map[string]any{"product": product, "views": days})
}
