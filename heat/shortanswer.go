package heat

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// shortAnswer is how long a response is at most that is read as a short one: the name of the table is most of it.
const shortAnswer = 192

// readShort reads a response that has the consumed capacity of a table and nothing else, as that of most writes. The caller's
// output stays empty then. If there is anything else in the response, it reports false and leaves the response as it was: the
// client's protocol reads it. That one prepares for responses of any kind, which takes longer than all that a recorder does.
func (r *receipt) readShort(response *smithyhttp.Response) bool {
	if !r.alone || response.StatusCode != http.StatusOK || response.ContentLength <= 0 || response.ContentLength >= shortAnswer {
		return false
	}
	text := shortAnswers.Get().(*[shortAnswer]byte)
	defer shortAnswers.Put(text)
	n, err := io.ReadFull(response.Body, text[:response.ContentLength])
	if err == nil {
		_, err = response.Body.Read(text[n:])
		if errors.Is(err, io.EOF) && r.scan(text[:n]) {
			return true
		}
	}
	response.Body = seenBody{io.MultiReader(bytes.NewReader(bytes.Clone(text[:n])), response.Body), response.Body}
	return false
}

var shortAnswers = sync.Pool{New: func() any { return new([shortAnswer]byte) }}

// seenBody is a body whose beginning was read before.
type seenBody struct {
	io.Reader
	io.Closer
}

// scan reads the text of a short response. It reports false for a text in any other spelling.
func (r *receipt) scan(text []byte) bool {
	s := scanner{left: text}
	units := 0.0
	if !s.skip(`{"ConsumedCapacity":{`) {
		return false
	}
	for first := true; !s.skip(`}}`); first = false {
		if !first && !s.skip(`,`) {
			return false
		}
		switch {
		case s.skip(`"CapacityUnits":`):
			units = s.number()
		case s.skip(`"TableName":"`):
			s.text()
		default:
			return false
		}
	}
	if s.wrong || len(s.left) > 0 {
		return false
	}
	r.read, r.units = true, units
	r.consumed.CapacityUnits = &r.units
	return true
}

// scanner is what is left of a text, and whether something was not as expected.
type scanner struct {
	left  []byte
	wrong bool
}

// skip reports whether the text goes on with a word, which it then leaves behind.
func (s *scanner) skip(word string) bool {
	if len(s.left) < len(word) || string(s.left[:len(word)]) != word {
		return false
	}
	s.left = s.left[len(word):]
	return true
}

// text leaves a string and its closing quote behind. One with escapes is wrong.
func (s *scanner) text() {
	end := bytes.IndexByte(s.left, '"')
	if end < 0 || bytes.IndexByte(s.left[:end], '\\') >= 0 {
		s.wrong = true
		return
	}
	s.left = s.left[end+1:]
}

// number returns the number that the text goes on with.
func (s *scanner) number() float64 {
	end := bytes.IndexAny(s.left, ",}")
	if end < 0 {
		s.wrong = true
		return 0
	}
	n, err := strconv.ParseFloat(string(s.left[:end]), 64)
	s.left, s.wrong = s.left[end:], s.wrong || err != nil
	return n
}
