package main

import (
	"net/http"

	"github.com/heatsink-go/heatsink/leaderboard"
)

// place is a shopper on the board of this week.
type place struct {
	Rank     int    `json:"rank,omitempty"` // of a single shopper: counting costs reads
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

func placeOf(e leaderboard.Entry) place { return place{e.Rank, e.Player, e.Score} }

func (s *shop) listShoppers(r *http.Request) (answer, error) {
	limit, token, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := s.shoppers.board.Page(r.Context(), limit, token)
	if err != nil {
		return answer{}, err
	}
	places := list[place]{Items: make([]place, len(page.Entries)), Next: page.Next}
	for i, e := range page.Entries {
		places.Items[i] = placeOf(e)
	}
	return ok(places)
}

func (s *shop) getShopper(r *http.Request) (answer, error) {
	customer, err := nameIn(r, "customer")
	if err != nil {
		return answer{}, err
	}
	entry, err := s.shoppers.board.Rank(r.Context(), customer)
	if err != nil {
		return answer{}, err
	}
	return ok(placeOf(entry))
}
