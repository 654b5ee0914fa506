package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink"
)

var (
	plain   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) // how products, customers and clients are called
	orderID = regexp.MustCompile(`^[A-Z2-7]{26}$`)            // as rand.Text makes them
)

const plainWords = "1 to 64 of a-z, 0-9 and -"

// decode reads the body of a request, which is one JSON value.
func decode[T any](r *http.Request) (value T, err error) {
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err = body.Decode(&value)
	if err == nil {
		switch _, rest := body.Token(); {
		case errors.As(rest, new(*http.MaxBytesError)):
			err = rest
		case !errors.Is(rest, io.EOF):
			err = errors.New("there is more behind the first JSON value")
		}
	}
	if err != nil && !errors.As(err, new(*http.MaxBytesError)) {
		err = bad("the body is not as expected: %v", err)
	}
	return value, err
}

// nameIn returns a name in the path of a request.
func nameIn(r *http.Request, of string) (string, error) {
	name := r.PathValue(of)
	if !plain.MatchString(name) {
		return "", bad("%s %q: want "+plainWords, of, name)
	}
	return name, nil
}

// orderIn returns the id of an order in the path of a request. What is no id is not the id of any order.
func orderIn(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !orderID.MatchString(id) {
		return "", heatsink.ErrNotFound
	}
	return id, nil
}

// pageOf returns which page of a list a request asks for.
func pageOf(r *http.Request) (limit int, token string, err error) {
	limit = 20
	if text := r.FormValue("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 100 {
			return 0, "", bad("limit %q: want 1 to 100", text)
		}
	}
	return limit, r.FormValue("page"), nil
}

// dayOf returns the day that a request asks for: today, unless it says another.
func dayOf(r *http.Request) (time.Time, error) {
	text := r.FormValue("day")
	if text == "" {
		return time.Now().UTC().Truncate(day), nil
	}
	of, err := time.Parse(time.DateOnly, text)
	if err != nil || of.Year() < 1970 || of.Year() > 9990 {
		return of, bad("day %q: want one such as 2026-11-18, in UTC", text)
	}
	return of, nil
}
