package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Credentials are an access key and its secret. They do not print.
type Credentials struct {
	AccessKeyID     string
	SecretAccessKey string `json:"-"`

	// SessionToken must be in requests too, if there is one.
	SessionToken string `json:"-"`
}

// Format keeps the secret from every verb of fmt.
func (Credentials) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[credentials]") }

// LogValue keeps the secret from logs.
func (Credentials) LogValue() slog.Value { return slog.StringValue("[credentials]") }

// Validate returns an error if no client can use the credentials: an access key
// id ends at the first slash of a signature, and the signature at the first comma
// or blank of a header. The error shows neither, as they may be mixed up.
func (c Credentials) Validate() error {
	switch {
	case c.AccessKeyID == "":
		return errors.New("the access key id is empty")
	case c.SecretAccessKey == "":
		return errors.New("the secret access key is empty")
	}
	n := 0
	for _, r := range c.AccessKeyID {
		n++
		if r <= ' ' || r > '~' || r == ',' || r == '/' {
			return fmt.Errorf("access key id: character %d of %d is %q, which a signature cannot contain; "+
				"use ASCII characters except blanks, commas and slashes (a secret may contain any character)",
				n, utf8.RuneCountInString(c.AccessKeyID), r)
		}
	}
	return nil
}

const (
	service    = "dynamodb" // of streams as well
	terminator = "aws4_request"
	isoBasic   = "20060102T150405Z"

	// clockWindow is how far a signature's date may be from now.
	clockWindow = 15 * time.Minute
)

// verifier verifies signatures, version 4: that a request was signed by who
// knows the secret, within the last minutes, and is as it was then. The rules
// are those of "Signature Version 4 signing process" in AWS's documentation.
type verifier struct {
	credentials Credentials
	key         atomic.Pointer[signingKey] // the last one used
}

// signingKey is the key for a scope: a day, a region and the service.
type signingKey struct {
	scope string // date/region/service/aws4_request
	key   []byte
}

// check verifies all but the signature itself, which needs the body.
func (v *verifier) check(a *authorization, r *http.Request) error {
	if _, err := queryOf(r); err != nil {
		return err
	}
	date, err := a.time()
	if err != nil {
		return err
	}
	if err := a.current(date, time.Now()); err != nil {
		return err
	}
	if err := a.signsEnough(r); err != nil {
		return err
	}
	keyID, scope, _ := strings.Cut(a.credential, "/")
	if err := checkScope(scope, date.Format(isoBasic)); err != nil {
		return err
	}
	if !equal(keyID, v.credentials.AccessKeyID) {
		return authError(typeUnrecognizedClient, "The security token included in the request is invalid.")
	}
	return nil
}

// verify verifies the signature and, if one is needed, the session token.
func (v *verifier) verify(a *authorization, r *http.Request, body []byte) error {
	date, err := a.time()
	if err != nil {
		return err
	}
	_, scope, _ := strings.Cut(a.credential, "/")
	request := sha256.Sum256(a.canonicalRequest(r, body))
	text := algorithm + "\n" + date.Format(isoBasic) + "\n" + scope + "\n" + hex.EncodeToString(request[:])
	want := hex.EncodeToString(sign(v.signingKey(scope), text))
	if !equal(a.signature, want) {
		return authError(typeInvalidSignature, "The request signature we calculated does not match the signature you provided. "+
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	if token := v.credentials.SessionToken; token != "" {
		given := headerOf(r, "X-Amz-Security-Token")
		if a.query {
			given = r.URL.Query().Get("X-Amz-Security-Token")
		}
		if !equal(given, token) {
			return authError(typeUnrecognizedClient, "The security token included in the request is invalid")
		}
	}
	return nil
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, text)
	return mac.Sum(nil)
}

func (v *verifier) signingKey(scope string) []byte {
	if k := v.key.Load(); k != nil && k.scope == scope {
		return k.key
	}
	key := []byte("AWS4" + v.credentials.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = sign(key, part)
	}
	v.key.Store(&signingKey{strings.Clone(scope), key})
	return key
}

// time returns when a request was signed.
func (a *authorization) time() (time.Time, error) {
	t, err := time.Parse(isoBasic, a.date)
	if err != nil && !a.query {
		t, err = http.ParseTime(a.date) // a Date header may be of the old kind
	}
	if err != nil {
		return t, authError(typeIncompleteSignature,
			"Date must be in ISO-8601 'basic format'. Got '"+a.date+"'. See http://en.wikipedia.org/wiki/ISO_8601")
	}
	return t.UTC(), nil
}

// current verifies that a signature is neither too old nor of the future.
func (a *authorization) current(date, now time.Time) error {
	now = now.UTC().Truncate(time.Second)
	window := clockWindow
	if a.query {
		window = min(window, a.lifetime)
	}
	switch earliest, latest := now.Add(-window), now.Add(clockWindow); {
	case date.Before(earliest):
		return authError(typeInvalidSignature, fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - %g min.)",
			date.Format(isoBasic), earliest.Format(isoBasic), now.Format(isoBasic), window.Minutes()))
	case date.After(latest):
		return authError(typeInvalidSignature, fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + %g min.)",
			date.Format(isoBasic), latest.Format(isoBasic), now.Format(isoBasic), clockWindow.Minutes()))
	}
	return nil
}

// signsEnough verifies that all that an answer depends on is signed: who a
// request is for, when it was made, what it asks for and how it is written.
func (a *authorization) signsEnough(r *http.Request) error {
	for _, name := range []string{"Host", "Content-Type", "Date", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Target"} {
		present := name == "Host" || r.Header[name] != nil
		if name == "Date" { // it only counts in place of the other
			present = !a.query && r.Header["X-Amz-Date"] == nil
		}
		if present && !a.signs(name) {
			return authError(typeInvalidSignature, "'"+name+"' must be a 'SignedHeader' in the AWS Authorization.")
		}
	}
	return nil
}

// checkScope verifies what a signature is good for: date/region/service/end.
func checkScope(scope, date string) error {
	parts := strings.Split(scope, "/") // four, as is known
	var message string
	if parts[1] == "" {
		message += "Credential should be scoped to a valid region, not '" + parts[1] + "'. "
	}
	if parts[2] != service {
		message += "Credential should be scoped to correct service: '" + service + "'. "
	}
	if parts[3] != terminator {
		message += "Credential should be scoped with a valid terminator: '" + terminator + "', not '" + parts[3] + "'. "
	}
	if day := date[:len("20060102")]; parts[0] != day {
		message += "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '" +
			parts[0] + "' != '" + day + "', from '" + date + "'. "
	}
	if message == "" {
		return nil
	}
	return authError(typeInvalidSignature, strings.TrimSuffix(message, " "))
}

// canonicalRequest is the form of a request that is signed.
func (a *authorization) canonicalRequest(r *http.Request, body []byte) []byte {
	b := make([]byte, 0, 1024)
	b = append(b, r.Method+"\n/\n"...) // we answer no other path
	b = append(b, canonicalQuery(r.URL)...)
	b = append(b, '\n')
	for name := range strings.SplitSeq(a.signedHeaders, ";") {
		b = append(b, name...)
		b = append(b, ':')
		for i, value := range headerValues(r, name) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, strings.Join(strings.Fields(value), " ")...)
		}
		b = append(b, '\n')
	}
	b = append(b, '\n')
	b = append(b, a.signedHeaders...)
	b = append(b, '\n')
	hash := sha256.Sum256(body)
	return hex.AppendEncode(b, hash[:])
}

// headerValues returns a header's values, those too that net/http keeps apart.
func headerValues(r *http.Request, name string) []string {
	values := r.Header.Values(name)
	switch {
	case strings.EqualFold(name, "Host"):
		return []string{hostOf(r)}
	case strings.EqualFold(name, "Content-Length") && len(values) == 0:
		return []string{strconv.FormatInt(r.ContentLength, 10)}
	}
	return values
}

// canonicalQuery is the query in the order of names, then values, without the
// signature itself.
func canonicalQuery(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	query := u.Query()
	query.Del("X-Amz-Signature")
	for _, values := range query {
		slices.Sort(values)
	}
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}
