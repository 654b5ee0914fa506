package place

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestEventTime(t *testing.T) {
	want := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		unit  TimeUnit
		value types.AttributeValue
		want  time.Time
	}{
		{"text", RFC3339, sv("2026-06-22T01:00:00Z"), want},
		{"text with an offset", RFC3339, sv("2026-06-22T03:00:00+02:00"), want},
		{"text with a fraction", RFC3339, sv("2026-06-22T01:00:00.5Z"), want.Add(time.Second / 2)},
		{"text followed by more", RFC3339, sv("2026-06-22T01:00:00Z#order#7"), want},
		{"seconds", UnixSeconds, nv(int(want.Unix())), want},
		{"seconds with an exponent", UnixSeconds, &types.AttributeValueMemberN{Value: "1E9"}, time.Unix(1_000_000_000, 0)},
		{"seconds with a fraction", UnixSeconds, &types.AttributeValueMemberN{Value: "1000000000.9"}, time.Unix(1_000_000_000, 900e6)},
		{"seconds before 1970", UnixSeconds, &types.AttributeValueMemberN{Value: "-0.5"}, time.Unix(-1, 500e6)},
		{"seconds as text", UnixSeconds, sv("1000000000#x"), time.Unix(1_000_000_000, 0)},
		{"milliseconds", UnixMilliseconds, nv(1_000_000_000_123), time.UnixMilli(1_000_000_000_123)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := EventTime{Attribute: "at", Unit: c.unit}.Of(Item{"at": c.value})
			if err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestEventTimeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		unit  TimeUnit
		value types.AttributeValue
		says  string
	}{
		{"missing", RFC3339, nil, "missing"},
		{"not a time", RFC3339, sv("yesterday"), `"yesterday"`},
		{"number for text", RFC3339, nv(5), `"5"`},
		{"text for a number", UnixSeconds, sv("soon"), `"soon"`},
		{"too large", UnixSeconds, &types.AttributeValueMemberN{Value: "1E15"}, `"1E15"`},
		{"far too large", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1E100"}, `"1E100"`},
		{"list", UnixSeconds, &types.AttributeValueMemberL{}, "a L"},
	} {
		t.Run(c.name, func(t *testing.T) {
			item := Item{}
			if c.value != nil {
				item["at"] = c.value
			}
			_, err := EventTime{Attribute: "at", Unit: c.unit}.Of(item)
			if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"at"`) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an ErrItem that names the attribute and %s", err, c.says)
			}
		})
	}
}

func TestEventTimeOf(t *testing.T) {
	at := func(seconds, nanoseconds int64) time.Time { return time.Unix(seconds, nanoseconds).UTC() }
	for _, test := range []struct {
		name  string
		unit  TimeUnit
		value types.AttributeValue
		want  time.Time // the zero time: refused
	}{
		{"seconds", UnixSeconds, &types.AttributeValueMemberN{Value: "1718000000"}, at(1718000000, 0)},
		{"a fraction, as Python writes it", UnixSeconds, &types.AttributeValueMemberN{Value: "1718000000.25"}, at(1718000000, 250e6)},
		{"an exponent", UnixSeconds, &types.AttributeValueMemberN{Value: "1.71800000025E9"}, at(1718000000, 250e6)},
		{"an exponent and no fraction", UnixSeconds, &types.AttributeValueMemberN{Value: "1718E6"}, at(1718000000, 0)},
		{"beyond nanoseconds", UnixSeconds, &types.AttributeValueMemberN{Value: "1718000000.1234567899"}, at(1718000000, 123456789)},
		{"less than a nanosecond", UnixSeconds, &types.AttributeValueMemberN{Value: "1E-12"}, at(0, 0)},
		{"before 1970", UnixSeconds, &types.AttributeValueMemberN{Value: "-1.25"}, at(-2, 750e6)},
		{"just before 1970", UnixSeconds, &types.AttributeValueMemberN{Value: "-1E-12"}, at(-1, 999999999)},
		{"a text", UnixSeconds, sv("1718000000.5#user"), at(1718000000, 500e6)},
		{"milliseconds", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1718000000250"}, at(1718000000, 250e6)},
		{"parts of milliseconds", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1718000000250.125"}, at(1718000000, 250125e3)},
		{"few milliseconds", UnixMilliseconds, &types.AttributeValueMemberN{Value: "7.5"}, at(0, 7500e3)},
		{"milliseconds before 1970", UnixMilliseconds, &types.AttributeValueMemberN{Value: "-1.5"}, at(-1, 998500e3)},
		{"milliseconds with an exponent", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1.71800000025E12"}, at(1718000000, 250e6)},
		{"RFC 3339", RFC3339, sv("2024-06-10T06:13:20.25Z"), at(1718000000, 250e6)},
		{"not set", UnixSeconds, &types.AttributeValueMemberN{Value: "0"}, time.Time{}},
		{"not set, in other words", UnixMilliseconds, &types.AttributeValueMemberN{Value: "0.00"}, time.Time{}},
		{"milliseconds for seconds", UnixSeconds, &types.AttributeValueMemberN{Value: "1718000000250"}, time.Time{}},
		{"microseconds for milliseconds", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1718000000250000"}, time.Time{}},
		{"far too large", UnixSeconds, &types.AttributeValueMemberN{Value: "1E100"}, time.Time{}},
		{"a number for a text", RFC3339, &types.AttributeValueMemberN{Value: "1718000000"}, time.Time{}},
		{"no number", UnixSeconds, sv("yesterday"), time.Time{}},
		{"nothing", UnixSeconds, nil, time.Time{}},
	} {
		item := Item{}
		if test.value != nil {
			item["at"] = test.value
		}
		got, err := EventTime{Attribute: "at", Unit: test.unit}.Of(item)
		if !got.Equal(test.want) || (err != nil) != test.want.IsZero() || err != nil && !errors.Is(err, ErrItem) {
			t.Errorf("%s: got %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}
