package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What a request in CBOR may have. Decoded, a byte can take a hundred times the
// memory, so that values are counted before any is decoded. CloudWatch takes 500
// queries: of DynamoDB's metrics, with names as long as any, those are 700 KB;
// with as many dimensions as CloudWatch knows, 30 each, they are 90,000 values.
const (
	maxCBORBytes  = 1 << 20
	maxCBORValues = 100_000 // names of members are values as well
	maxCBORDepth  = 16      // seven lists and maps in one another, and some to spare
)

// checkCBOR reports what is wrong with an encoded value: it is not complete, not
// alone, or has more in it than a request may.
func checkCBOR(encoded []byte) error {
	w := cborWalk{rest: encoded}
	if err := w.value(0); err != nil {
		return fmt.Errorf("CBOR at byte %d: %w", len(encoded)-len(w.rest), err)
	}
	if len(w.rest) > 0 {
		return fmt.Errorf("CBOR has %d bytes after its end", len(w.rest))
	}
	return nil
}

// cborWalk goes through encoded values, and decodes none.
type cborWalk struct {
	rest   []byte
	values int
}

// The major types of CBOR, and the additional information that is no number
// (RFC 8949, section 3).
const (
	cborBytes, cborText, cborList, cborMap, cborTag, cborSimple = 2, 3, 4, 5, 6, 7

	cborIndefinite = 31
	cborBreak      = 0xff
)

var errCBORShort = errors.New("the data ends too early")

// value walks over one value, inside so many others.
func (w *cborWalk) value(depth int) error {
	major, info, argument, err := w.head()
	if err != nil {
		return err
	}
	if major >= cborList && major <= cborTag && depth >= maxCBORDepth {
		return fmt.Errorf("values are nested more than %d deep", maxCBORDepth)
	}
	switch major {
	case cborBytes, cborText:
		if info == cborIndefinite {
			return w.chunks(major)
		}
		return w.skip(argument)
	case cborList:
		return w.members(info, argument, func() error { return w.value(depth + 1) })
	case cborMap:
		return w.members(info, argument, func() error {
			if len(w.rest) > 0 && w.rest[0]>>5 != cborText {
				return errors.New("a member's name is not a string")
			}
			if err := w.value(depth + 1); err != nil {
				return err
			}
			return w.value(depth + 1)
		})
	case cborTag:
		return w.value(depth + 1)
	}
	return nil
}

// head walks over the head of a value: its major type, its additional
// information, and the number that is in it or follows.
func (w *cborWalk) head() (major, info byte, argument uint64, err error) {
	if w.values++; w.values > maxCBORValues {
		return 0, 0, 0, fmt.Errorf("there are more than %d values", maxCBORValues)
	}
	if len(w.rest) == 0 {
		return 0, 0, 0, errCBORShort
	}
	major, info = w.rest[0]>>5, w.rest[0]&31
	switch {
	case info < 24:
		w.rest = w.rest[1:]
		return major, info, uint64(info), nil
	case info < 28:
		var number [8]byte
		n := 1 << (info - 24)
		if len(w.rest) < 1+n {
			return 0, 0, 0, errCBORShort
		}
		copy(number[8-n:], w.rest[1:])
		w.rest = w.rest[1+n:]
		return major, info, binary.BigEndian.Uint64(number[:]), nil
	case info == cborIndefinite && major >= cborBytes && major <= cborMap:
		w.rest = w.rest[1:]
		return major, info, 0, nil
	}
	return 0, 0, 0, fmt.Errorf("no value begins with byte %#x", w.rest[0])
}

func (w *cborWalk) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errCBORShort
	}
	w.rest = w.rest[n:]
	return nil
}

// members walks over those of a list or map: so many, or all up to the break.
func (w *cborWalk) members(info byte, count uint64, member func() error) error {
	for i := uint64(0); info == cborIndefinite || i < count; i++ {
		if info == cborIndefinite && w.broken() {
			return nil
		}
		if err := member(); err != nil {
			return err
		}
	}
	return nil
}

// chunks walks over the parts of a string up to the break.
func (w *cborWalk) chunks(major byte) error {
	for !w.broken() {
		part, info, length, err := w.head()
		if err != nil {
			return err
		}
		if part != major || info == cborIndefinite {
			return errors.New("a part of a string is not a string")
		}
		if err := w.skip(length); err != nil {
			return err
		}
	}
	return nil
}

// broken walks over a break, if there is one.
func (w *cborWalk) broken() bool {
	if len(w.rest) == 0 || w.rest[0] != cborBreak {
		return false
	}
	w.rest = w.rest[1:]
	return true
}
