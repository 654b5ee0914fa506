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

// shortAnswer is how long a response may be to be read as a short one. It bounds the memory that waits to be used again.
const shortAnswer = 4 << 10

// shortTail is how much of the end of a response is searched for the consumed capacity: a table has a name of up to 255 bytes.
const shortTail = 384

// shortText is the text of a short response, as a body for the client's protocol.
type shortText struct {
	bytes.Reader
	io.Closer // the response's own body
	text      [shortAnswer + 1]byte
}

var shortTexts = sync.Pool{New: func() any { return new(shortText) }}

// body returns a body that has a part of the text. It is good until free.
func (t *shortText) body(part []byte, closer io.Closer) io.ReadCloser {
	t.Reset(part)
	t.Closer = closer
	return t
}

func (t *shortText) free() {
	t.Closer = nil
	t.Reset(nil)
	shortTexts.Put(t)
}

// readAll reads a short body of a known length, and reports whether it had that length. If not, what was read of it is put back.
func (t *shortText) readAll(response *smithyhttp.Response) ([]byte, bool) {
	if response.StatusCode != http.StatusOK || response.ContentLength <= 0 || response.ContentLength > shortAnswer {
		return nil, false
	}
	n, err := io.ReadFull(response.Body, t.text[:response.ContentLength])
	if err == nil {
		var more int
		more, err = response.Body.Read(t.text[n:])
		if n += more; more == 0 && errors.Is(err, io.EOF) {
			return t.text[:n], true
		}
	}
	response.Body = seenBody{io.MultiReader(bytes.NewReader(bytes.Clone(t.text[:n])), response.Body), response.Body}
	return nil, false
}

// seenBody is a body whose beginning was read before.
type seenBody struct {
	io.Reader
	io.Closer
}

// cut takes the consumed capacity out of the text of a response, and returns what is left. It is empty if there was nothing
// else. cut looks where DynamoDB and the engine write the capacity: at the beginning or at the end. In any other spelling it
// reports false, and the client's protocol reads all of it. That takes longer than everything else that a recorder does.
func (r *receipt) cut(text []byte) (rest []byte, ok bool) {
	const member = `"ConsumedCapacity":{`
	if s := (scanner{left: text}); s.skip(`{` + member) {
		units, ok := s.capacity()
		switch {
		case !ok:
			return nil, false
		case string(s.left) == `}`:
			r.read, r.units = true, units
			return nil, true
		case s.skip(`,"`):
			r.read, r.units = true, units
			rest = text[len(text)-len(s.left)-len(`{"`):]
			rest[0] = '{' // instead of the comma
			return rest, true
		}
		return nil, false
	}
	// A quote in a string is escaped, so this is a member of some object. No attribute's value looks like a capacity, and
	// what follows is the end of the response.
	tail := max(0, len(text)-shortTail)
	at := tail + bytes.LastIndex(text[tail:], []byte(`},`+member))
	if at < tail {
		return nil, false
	}
	s := scanner{left: text[at+len(`},`+member):]}
	units, ok := s.capacity()
	if !ok || string(s.left) != `}` {
		return nil, false
	}
	r.read, r.units = true, units
	rest = text[:at+len(`}}`)]
	rest[at+1] = '}' // instead of the comma
	return rest, true
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

// capacity leaves the consumed capacity of a table and its closing bracket behind, and returns its units. It reports false
// for one that has anything else, such as indexes.
func (s *scanner) capacity() (units float64, ok bool) {
	for first := true; !s.skip(`}`); first = false {
		if !first && !s.skip(`,`) {
			return 0, false
		}
		switch {
		case s.skip(`"CapacityUnits":`):
			units = s.number()
		case s.skip(`"TableName":"`):
			s.text()
		default:
			return 0, false
		}
	}
	return units, !s.wrong
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
	if end <= 0 || s.left[0] > '9' { // words that Go takes for numbers, and JSON does not
		s.wrong = true
		return 0
	}
	n, err := strconv.ParseFloat(string(s.left[:end]), 64)
	s.left, s.wrong = s.left[end:], s.wrong || err != nil
	return n
}
