package wire

import (
	"net/http"
	"strings"
	"testing"
)

const wellFormed = "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=abc"

// Without credentials, requests need to be well-formed and no more.
func TestAnyCredentials(t *testing.T) {
	const (
		service = `{"__type":"com.amazon.coral.service#`
		missing = service + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`
		partial = service + `IncompleteSignatureException","message":"`
		tooLong = `X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds"}`

		presigned = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2Fb%2Fc%2Fdynamodb%2Faws4_request&X-Amz-Signature=s&X-Amz-SignedHeaders=host&X-Amz-Date=d"
	)
	for _, c := range []struct {
		name, header, date, query string
		want                      string // prefix of the answer's body
	}{
		{name: "well-formed", header: wellFormed, date: "20260101T000000Z", want: `{"Item"`},
		{name: "no spaces", header: strings.ReplaceAll(wellFormed, ", ", ","), date: "20260101T000000Z", want: `{"Item"`},
		{name: "no commas", header: strings.ReplaceAll(wellFormed, ",", ""), date: "20260101T000000Z", want: `{"Item"`},
		{name: "nothing", want: missing},
		{name: "basic", header: "Basic abc", want: missing},
		{name: "old signature", header: "AWS AKID:abc", want: missing},
		{
			name: "nothing in it", header: "AWS4-HMAC-SHA256",
			want: partial + `Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. ` +
				`Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ` +
				`(Hashed with SHA-256 and encoded with Base64) Authorization=`,
		},
		{
			name: "no signature", header: strings.Replace(wellFormed, "Signature=", "S=", 1), date: "20260101T000000Z",
			want: partial + `Authorization header requires 'Signature' parameter. (Hashed`,
		},
		{
			name: "no date", header: wellFormed,
			want: partial + `Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. (Hashed`,
		},
		{
			name: "short credential", header: strings.Replace(wellFormed, "/aws4_request", "", 1), date: "20260101T000000Z",
			want: partial + `Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'any/20260101/us-east-1/dynamodb'"}`,
		},
		{
			name: "other algorithm", header: strings.Replace(wellFormed, "SHA256", "SHA1", 1), date: "20260101T000000Z",
			want: partial + `Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' (only AWS4-HMAC-SHA256 for now). "}`,
		},
		{
			name:  "query",
			query: presigned,
			want:  `{"Item"`,
		},
		{
			name: "partial query", query: "X-Amz-Algorithm=&X-Amz-Signature=s",
			want: partial + `AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must include 'X-Amz-Credential'. ` +
				`AWS query-string parameters must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. ` +
				`Re-examine the query-string parameters."}`,
		},
		{name: "query for no time", query: presigned + "&X-Amz-Expires=0", want: `{"Item"`},
		{name: "query for a week", query: presigned + "&X-Amz-Expires=604800", want: `{"Item"`},
		{name: "query for longer", query: presigned + "&X-Amz-Expires=604801", want: partial + tooLong},
		{name: "query forever", query: presigned + "&X-Amz-Expires=9223372036854775807", want: partial + tooLong},
		{name: "query beyond 64 bits", query: presigned + "&X-Amz-Expires=9223372036854775808", want: partial + `X-Amz-Expires should be a number"}`},
		{name: "query for a word", query: presigned + "&X-Amz-Expires=soon", want: partial + `X-Amz-Expires should be a number"}`},
		{name: "query for nothing", query: presigned + "&X-Amz-Expires=", want: partial + `X-Amz-Expires should be a number"}`},
		{name: "query for less than nothing", query: presigned + "&X-Amz-Expires=-1", want: partial + `X-Amz-Expires must be non-negative"}`},
		{name: "query of nonsense", query: presigned + "&X-Amz-Expires=%zz", want: partial + `AWS query-string parameters cannot be read: invalid URL escape \"%zz\". Re-examine`},
		{
			name: "both", header: wellFormed, date: "20260101T000000Z", query: "X-Amz-Algorithm=x",
			want: service + `InvalidSignatureException","message":"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, h := getStub(t, Options{})
			r := post(dynamoDB+"GetItem", `{}`)
			r.URL.RawQuery = c.query
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			if c.date != "" {
				r.Header.Set("X-Amz-Date", c.date)
			}
			w := do(h, r)
			if !strings.HasPrefix(w.Body.String(), c.want) || (w.Code == http.StatusOK) != strings.HasPrefix(c.want, `{"Item"`) {
				t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, c.want)
			}
		})
	}
}

func TestUnsignedIsForNobodyElse(t *testing.T) {
	if _, h := getStub(t, Options{Unsigned: true}); do(h, post(dynamoDB+"GetItem", `{}`)).Code != http.StatusOK {
		t.Error("an unsigned request is not answered")
	}
	_, h := getStub(t, Options{Unsigned: true, Credentials: &Credentials{AccessKeyID: "a", SecretAccessKey: "b"}})
	if w := do(h, post(dynamoDB+"GetItem", `{}`)); !strings.Contains(w.Body.String(), typeMissingToken) {
		t.Errorf("with credentials, got %s", w.Body)
	}
}

func FuzzAuthorization(f *testing.F) {
	f.Add(wellFormed, "20260101T000000Z", "")
	f.Add("AWS4-", "Thu, 01 Jan 2026 00:00:00 GMT", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=9223372036854775807")
	v := &verifier{credentials: Credentials{AccessKeyID: "any", SecretAccessKey: testSecret}}
	f.Fuzz(func(t *testing.T, header, date, query string) {
		r := post(dynamoDB+"GetItem", `{}`)
		r.Header["Authorization"], r.Header["X-Amz-Date"], r.URL.RawQuery = []string{header}, []string{date}, query
		a, err := parseAuthorization(r)
		if err != nil {
			return
		}
		if v.check(&a, r) == nil && v.verify(&a, r, nil) == nil {
			t.Fatal("it was not signed, but is believed")
		}
		_ = a.canonicalRequest(r, nil)
	})
}
