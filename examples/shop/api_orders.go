package main

import "net/http"

// validate reports what is wrong with an order that somebody places.
func (o *order) validate() error {
	switch {
	case o.ID != "" || o.Status != "" || o.Created != "":
		return bad("id, status and created are set by the shop: leave them out")
	case !plain.MatchString(o.Customer):
		return bad("customer %q: want "+plainWords, o.Customer)
	case len(o.Lines) < 1 || len(o.Lines) > 100:
		return bad("%d lines: want 1 to 100", len(o.Lines))
	case len(o.Note) > 4000:
		return bad("a note of %d bytes: want at most 4000", len(o.Note))
	}
	for i, l := range o.Lines {
		switch {
		case !plain.MatchString(l.Product):
			return bad("line %d: product %q: want "+plainWords, i+1, l.Product)
		case l.Quantity < 1 || l.Quantity > 1000:
			return bad("line %d: quantity %d: want 1 to 1000", i+1, l.Quantity)
		case l.Cents < 0 || l.Cents > 100_000_000:
			return bad("line %d: %d cents: want 0 to 100000000", i+1, l.Cents)
		}
	}
	return nil
}

func (s *shop) postOrder(r *http.Request) (answer, error) {
	placed, err := decode[order](r)
	if err != nil {
		return answer{}, err
	}
	if err := placed.validate(); err != nil {
		return answer{}, err
	}
	placed, err = s.orders.create(r.Context(), placed)
	at := "/orders/" + placed.ID
	if unknown(err) { // the client can find out
		s.log.Warn("order may be stored", "id", placed.ID, "error", err)
		return answer{http.StatusAccepted, at, map[string]string{
			"id": placed.ID, "outcome": "unknown",
			"message": "an answer was lost: GET the order, and if there is none after a minute, place it again",
		}}, nil
	}
	return answer{http.StatusCreated, at, placed}, err
}

func (s *shop) getOrder(r *http.Request) (answer, error) {
	id, err := orderIn(r)
	if err != nil {
		return answer{}, err
	}
	found, err := s.orders.get(r.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return ok(found)
}

// putStatus may be repeated after any failure: neither the order nor the board changes twice. An order that ships is counted like one
// that is paid: if its payment was not counted, and nobody has repeated that, it is now.
func (s *shop) putStatus(r *http.Request) (answer, error) {
	type change struct {
		Status status `json:"status"`
	}
	id, err := orderIn(r)
	if err != nil {
		return answer{}, err
	}
	to, err := decode[change](r)
	if err != nil {
		return answer{}, err
	}
	if before[to.Status] == "" {
		return answer{}, bad("status %q: want %s or %s", to.Status, paid, shipped)
	}
	moved, err := s.orders.move(r.Context(), id, to.Status)
	if err != nil {
		return answer{}, err
	}
	if err := s.shoppers.bought(r.Context(), moved); err != nil {
		return answer{}, halfDone(err, "the order has its new status, but may not be counted for its shopper yet: put the status again")
	}
	return ok(moved)
}

func (s *shop) listOrders(r *http.Request) (answer, error) {
	of := status(r.FormValue("status"))
	if of != open && before[of] == "" {
		return answer{}, bad("status %q: want %s, %s or %s", of, open, paid, shipped)
	}
	limit, token, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := s.orders.list(r.Context(), of, limit, token)
	if err != nil {
		return answer{}, err
	}
	return ok(list[order]{append([]order{}, page.Items...), page.Next}) // [] instead of null
}
