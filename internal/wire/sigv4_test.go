package wire

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

var testCredentials = Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret}

// signed is how a request is signed, with the SDK's signer, and what happens to
// it on the way.
type signed struct {
	credentials aws.Credentials
	service     string
	age         time.Duration
	before      func(*http.Request) // it is signed
	after       func(*http.Request)
	body        string // other than the one signed
}

func (s signed) request(t *testing.T) *http.Request {
	t.Helper()
	const body = `{"TableName":"t"}`
	r := post(dynamoDB+"GetItem", body)
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
	if s.before != nil {
		s.before(r)
	}
	if s.credentials.AccessKeyID == "" {
		s.credentials = aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret}
	}
	s.service = cmp.Or(s.service, "dynamodb")
	hash := sha256.Sum256([]byte(body))
	err := v4.NewSigner().SignHTTP(t.Context(), s.credentials, r, hex.EncodeToString(hash[:]), s.service, "eu-central-1", time.Now().Add(-s.age))
	if err != nil {
		t.Fatal(err)
	}
	if s.after != nil {
		s.after(r)
	}
	if s.body != "" {
		r.Body = http.NoBody
		r = clone(r, s.body)
	}
	return r
}

// clone returns the request with another body.
func clone(r *http.Request, body string) *http.Request {
	c := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
	c.Header, c.Host = r.Header, r.Host
	return c
}

// resign replaces a part of the Authorization header.
func resign(old, replacement string) func(*http.Request) {
	return func(r *http.Request) {
		auth := r.Header.Get("Authorization")
		changed := strings.Replace(auth, old, replacement, 1)
		if changed == auth {
			panic("there is no " + old + " in " + auth)
		}
		r.Header.Set("Authorization", changed)
	}
}

const mismatch = `"com.amazon.coral.service#InvalidSignatureException","message":"The request signature we calculated does not match the signature you provided. ` +
	`Check your AWS Secret Access Key and signing method. Consult the service documentation for details."}`

func TestSignatures(t *testing.T) {
	const invalid = `"com.amazon.coral.service#InvalidSignatureException","message":"`
	for _, c := range []struct {
		name   string
		signed signed
		want   string // in the answer; empty: the item
	}{
		{name: "good"},
		{name: "good, ten minutes old", signed: signed{age: 10 * time.Minute}},
		{name: "good, fifteen minutes old", signed: signed{age: 15 * time.Minute}},
		{name: "good, ten minutes ahead", signed: signed{age: -10 * time.Minute}},
		{name: "good, spaces in a header", signed: signed{before: func(r *http.Request) { r.Header["X-Amz-Meta"] = []string{"  a   b ", "c"} }}},
		{name: "good, with a query", signed: signed{before: func(r *http.Request) { r.URL.RawQuery = "b=2&a=x%20y&a=1&c=%2B~" }}},
		{name: "good, with a token nobody asked for", signed: signed{credentials: aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret, SessionToken: "x"}}},
		{name: "good, other headers added", signed: signed{after: func(r *http.Request) { r.Header.Set("User-Agent", "x"); r.Header.Set("X-Amz-Cf-Id", "y") }}},
		{name: "good, old kind of date", signed: signed{before: func(r *http.Request) { r.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) }}},
		{
			name: "wrong key", signed: signed{credentials: aws.Credentials{AccessKeyID: "AKIDOTHER", SecretAccessKey: testSecret}},
			want: `"com.amazon.coral.service#UnrecognizedClientException","message":"The security token included in the request is invalid."}`,
		},
		{name: "wrong secret", signed: signed{credentials: aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: "other"}}, want: mismatch},
		{name: "empty secret", signed: signed{credentials: aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: " "}}, want: mismatch},
		{
			name: "expired", signed: signed{age: 15*time.Minute + time.Second},
			want: invalid + `Signature expired: 20000101T084459Z is now earlier than 20000101T084500Z (20000101T090000Z - 15 min.)"}`,
		},
		{
			name: "of the future", signed: signed{age: -15*time.Minute - time.Second},
			want: invalid + `Signature not yet current: 20000101T091501Z is still later than 20000101T091500Z (20000101T090000Z + 15 min.)"}`,
		},
		{
			name: "dated anew", signed: signed{age: time.Minute, after: func(r *http.Request) { r.Header.Set("X-Amz-Date", time.Now().UTC().Format(isoBasic)) }},
			want: mismatch,
		},
		{name: "tampered body", signed: signed{body: `{"TableName":"u"}`}, want: mismatch},
		{name: "longer body", signed: signed{body: `{"TableName":"t"} `}, want: mismatch},
		{name: "tampered target", signed: signed{after: func(r *http.Request) { r.Header.Set("X-Amz-Target", dynamoDB+"DescribeEndpoints") }}, want: mismatch},
		{name: "second target", signed: signed{after: func(r *http.Request) { r.Header.Add("X-Amz-Target", dynamoDB+"PutItem") }}, want: mismatch},
		{name: "tampered content type", signed: signed{after: func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }}, want: mismatch},
		{name: "tampered host", signed: signed{after: func(r *http.Request) { r.Host = "elsewhere" }}, want: mismatch},
		{
			name: "added query that cannot be read", signed: signed{after: func(r *http.Request) { r.URL.RawQuery = "a=%zz" }},
			want: `"com.amazon.coral.service#IncompleteSignatureException","message":"AWS query-string parameters cannot be read: invalid URL escape \"%zz\". `,
		},
		{name: "added query", signed: signed{after: func(r *http.Request) { r.URL.RawQuery = "a=1" }}, want: mismatch},
		{name: "shortened signature", signed: signed{after: func(r *http.Request) {
			auth := r.Header.Get("Authorization")
			r.Header.Set("Authorization", auth[:len(auth)-2])
		}}, want: mismatch},
		{name: "capital signature", signed: signed{after: func(r *http.Request) {
			before, signature, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
			r.Header.Set("Authorization", before+"Signature="+strings.ToUpper(signature)+"A")
		}}, want: mismatch},
		{
			name: "unsigned host", signed: signed{after: resign(";host;", ";")},
			want: invalid + `'Host' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{
			name: "unsigned date", signed: signed{after: resign(";x-amz-date", "")},
			want: invalid + `'X-Amz-Date' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{
			name: "unsigned target", signed: signed{after: resign(";x-amz-target", "")},
			want: invalid + `'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{
			name: "unsigned content type", signed: signed{after: resign("content-type;", "")},
			want: invalid + `'Content-Type' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{
			name: "unsigned old date", signed: signed{after: func(r *http.Request) {
				r.Header.Del("X-Amz-Date")
				r.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
			}},
			want: invalid + `'Date' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{
			name: "added header of AWS's", signed: signed{after: func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", "x") }},
			want: invalid + `'X-Amz-Security-Token' must be a 'SignedHeader' in the AWS Authorization."}`,
		},
		{name: "wrong service", signed: signed{service: "s3"}, want: invalid + `Credential should be scoped to correct service: 'dynamodb'."}`},
		{name: "other region", signed: signed{after: resign("eu-central-1", "us-east-1")}, want: mismatch},
		{
			name: "other day", signed: signed{after: resign("/20000101/", "/20000102/")},
			want: invalid + `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20000102' != '20000101', from '20000101T090000Z'."}`,
		},
		{
			name: "all wrong", signed: signed{after: resign("20000101/eu-central-1/dynamodb/aws4_request", "x//y/z")},
			want: invalid + `Credential should be scoped to a valid region, not ''. Credential should be scoped to correct service: 'dynamodb'. ` +
				`Credential should be scoped with a valid terminator: 'aws4_request', not 'z'. Date in Credential scope does not match`,
		},
		{
			name: "no date at all", signed: signed{after: func(r *http.Request) { r.Header.Set("X-Amz-Date", "yesterday") }},
			want: `"com.amazon.coral.service#IncompleteSignatureException","message":"Date must be in ISO-8601 'basic format'. Got 'yesterday'. See http://en.wikipedia.org/wiki/ISO_8601"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				time.Sleep(9 * time.Hour) // the bubble's clock starts at midnight
				s, h := getStub(t, Options{Credentials: &testCredentials})
				w := do(h, c.signed.request(t))
				if c.want == "" {
					if w.Code != http.StatusOK || s.in == nil {
						t.Errorf("got %d %s", w.Code, w.Body)
					}
					return
				}
				if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), c.want) {
					t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, c.want)
				}
				if s.in != nil {
					t.Error("the operation ran")
				}
				if strings.Contains(w.Body.String(), testSecret) {
					t.Error("the secret is in the answer")
				}
			})
		})
	}
}

func TestSessionTokens(t *testing.T) {
	withToken := testCredentials
	withToken.SessionToken = "session"
	_, h := getStub(t, Options{Credentials: &withToken})
	for token, want := range map[string]string{
		"session": `{"Item"`,
		"other":   `UnrecognizedClientException","message":"The security token included in the request is invalid"}`,
		"":        `UnrecognizedClientException","message":"The security token included in the request is invalid"}`,
	} {
		r := signed{credentials: aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret, SessionToken: token}}.request(t)
		if w := do(h, r); !strings.Contains(w.Body.String(), want) {
			t.Errorf("token %q: got %d %s", token, w.Code, w.Body)
		}
	}
}

// The key of a day is used again, but for that day and region alone.
func TestSigningKeys(t *testing.T) {
	v := &verifier{credentials: testCredentials}
	// The example of AWS's documentation.
	got := hex.EncodeToString((&verifier{credentials: testCredentials}).signingKey("20120215/us-east-1/iam/aws4_request"))
	if want := "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for range 3 {
		for _, scope := range []string{"20000101/a/dynamodb/aws4_request", "20000101/b/dynamodb/aws4_request", "20000102/a/dynamodb/aws4_request"} {
			fresh := (&verifier{credentials: testCredentials}).signingKey(scope)
			for range 2 {
				if !bytes.Equal(v.signingKey(scope), fresh) {
					t.Errorf("wrong key for %s", scope)
				}
			}
		}
	}
}

func TestOldDateHeader(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := authorization{date: time.Now().UTC().Format(http.TimeFormat)}
		if got, err := a.time(); err != nil || !got.Equal(time.Now()) {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// presigned returns a request whose query holds a signature that is good for a
// minute and, unless it is empty, a session token.
func presigned(t *testing.T, token string) *http.Request {
	t.Helper()
	const body = `{"TableName":"t"}`
	r := post(dynamoDB+"GetItem", body)
	r.URL.RawQuery = "X-Amz-Expires=60"
	hash := sha256.Sum256([]byte(body))
	// What the signer moves into the query, we want in the header.
	target := r.Header["X-Amz-Target"]
	r.Header.Del("X-Amz-Target")
	uri, header, err := v4.NewSigner().PresignHTTP(t.Context(), aws.Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret, SessionToken: token},
		r, hex.EncodeToString(hash[:]), "dynamodb", "eu-central-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	signed := httptest.NewRequest(http.MethodPost, uri, strings.NewReader(body))
	signed.Host = header.Get("Host")
	signed.Header.Set("Content-Type", "application/x-amz-json-1.0")
	signed.Header["X-Amz-Target"] = target
	return signed
}

// A query holds its session token itself: one in a header is not signed.
func TestPresignedSessionTokens(t *testing.T) {
	v := &verifier{credentials: testCredentials}
	v.credentials.SessionToken = "session"
	for _, c := range []struct {
		query, header string
		ok            bool
	}{{"session", "", true}, {"session", "other", true}, {"other", "session", false}, {"", "session", false}, {"", "", false}} {
		r := presigned(t, c.query)
		if c.header != "" {
			r.Header.Set("X-Amz-Security-Token", c.header)
		}
		a, err := parseAuthorization(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.verify(&a, r, []byte(`{"TableName":"t"}`)); (err == nil) != c.ok {
			t.Errorf("%q in the query, %q in a header: got %v", c.query, c.header, err)
		}
	}
}

func TestPresignedRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		_, h := getStub(t, Options{Credentials: &testCredentials})
		r := presigned(t, "")
		if w := do(h, r); !strings.Contains(w.Body.String(), "'X-Amz-Target' must be a 'SignedHeader'") {
			t.Errorf("an unsigned target: got %d %s", w.Code, w.Body)
		}
		a, err := parseAuthorization(r)
		if err != nil {
			t.Fatal(err)
		}
		v := &verifier{credentials: testCredentials}
		if err := v.verify(&a, r, []byte(`{"TableName":"t"}`)); err != nil {
			t.Error(err)
		}
		if err := v.verify(&a, r, []byte(`{"TableName":"u"}`)); err == nil {
			t.Error("a tampered body is believed")
		}
		date, err := a.time()
		if err != nil {
			t.Fatal(err)
		}
		for wait, ok := range map[time.Duration]bool{0: true, time.Minute: true, 61 * time.Second: false} {
			if err := a.current(date, date.Add(wait)); (err == nil) != ok {
				t.Errorf("after %v: got %v", wait, err)
			}
		}
		long := authorization{date: a.date, lifetime: maxExpires, query: true}
		if err := long.current(date, date.Add(16*time.Minute)); err == nil {
			t.Error("a week is more than the window")
		}
	})
}

// Credentials are refused if, and only if, no client could use them.
func TestCredentialsThatWork(t *testing.T) {
	works := func(c Credentials) bool {
		_, h := getStub(t, Options{Credentials: &c})
		r := signed{credentials: aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey}}.request(t)
		return do(h, r).Code == http.StatusOK
	}
	for r := ' '; r <= '~'; r++ {
		for _, id := range []string{string(r), "a" + string(r), string(r) + "b", "a" + string(r) + "b"} {
			c := Credentials{AccessKeyID: id, SecretAccessKey: testSecret}
			if err, ok := c.Validate(), works(c); (err == nil) != ok {
				t.Errorf("access key id %q: works %v, Validate %v", id, ok, err)
			}
		}
		c := Credentials{AccessKeyID: testKeyID, SecretAccessKey: "a" + string(r)}
		if err := c.Validate(); err != nil || !works(c) {
			t.Errorf("secret %q: %v", c.SecretAccessKey, err)
		}
	}
	for _, id := range []string{"", "a\n", "a\tb", "a\x00", "a\x7f", "é", "a\xff"} {
		if (Credentials{AccessKeyID: id, SecretAccessKey: testSecret}).Validate() == nil {
			t.Errorf("access key id %q is accepted", id)
		}
	}
	if (Credentials{AccessKeyID: testKeyID}).Validate() == nil {
		t.Error("no secret is accepted")
	}
	mixedUp := Credentials{AccessKeyID: testSecret, SecretAccessKey: testKeyID}
	const want = `access key id: character 14 of 40 is '/', `
	if err := mixedUp.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), testSecret) {
		t.Errorf("mixed up: got %v, want %s", err, want)
	}
}

func TestCredentialsDoNotPrint(t *testing.T) {
	c := Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret, SessionToken: "session-token"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "c", c, "p", &c, "o", Options{Credentials: &c})
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %d %v %+v", c, c, c, c, c, c, &c, Options{Credentials: &c}) + log.String() + string(text)
	for _, secret := range []string{testSecret, "session-token"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is in %s", secret, all)
		}
	}
}
