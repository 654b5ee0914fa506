package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

const algorithm = "AWS4-HMAC-SHA256"

// authorization is how a request says who signed it, in its Authorization
// header or in its query.
type authorization struct {
	algorithm     string
	credential    string // key id / date / region / service / aws4_request
	signedHeaders string // separated by semicolons
	signature     string
	date          string        // as it is in the header or query
	lifetime      time.Duration // query: how long after date it is good
	query         bool
}

func authError(typ, message string) error {
	return &engine.Error{Type: typ, Message: message}
}

// parseAuthorization takes apart how a request is signed. It is well-formed if
// there is no error.
func parseAuthorization(r *http.Request) (authorization, error) {
	inQuery := r.URL.RawQuery != "" && strings.Contains(r.URL.RawQuery, "X-Amz-Algorithm")
	header := headerOf(r, "Authorization")
	switch {
	case header != "" && inQuery:
		return authorization{}, authError(typeInvalidSignature,
			"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
	case inQuery:
		return parseQuery(r)
	case !strings.HasPrefix(header, "AWS4-"):
		return authorization{}, authError(typeMissingToken, "Request is missing Authentication Token")
	default:
		return parseHeader(r, header)
	}
}

func parseHeader(r *http.Request, header string) (a authorization, err error) {
	rest := header
	a.algorithm, rest, _ = strings.Cut(rest, " ")
	for rest != "" {
		var part string
		if i := strings.IndexAny(rest, ", "); i >= 0 {
			part, rest = rest[:i], rest[i+1:]
		} else {
			part, rest = rest, ""
		}
		switch name, value, _ := strings.Cut(part, "="); name {
		case "Credential":
			a.credential = value
		case "SignedHeaders":
			a.signedHeaders = value
		case "Signature":
			a.signature = value
		}
	}
	if a.date = headerOf(r, "X-Amz-Date"); a.date == "" {
		a.date = headerOf(r, "Date")
	}
	if a.credential == "" || a.signature == "" || a.signedHeaders == "" || a.date == "" {
		return a, incompleteHeader(&a, header)
	}
	return a, a.wellFormed()
}

// incompleteHeader names what is missing. The header itself is told as a hash,
// as AWS does, lest it end up in somebody's log.
func incompleteHeader(a *authorization, header string) error {
	var message strings.Builder
	for _, part := range []struct{ name, value string }{
		{"Credential", a.credential},
		{"Signature", a.signature},
		{"SignedHeaders", a.signedHeaders},
	} {
		if part.value == "" {
			message.WriteString("Authorization header requires '" + part.name + "' parameter. ")
		}
	}
	if a.date == "" {
		message.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	hash := sha256.Sum256([]byte(header))
	message.WriteString("(Hashed with SHA-256 and encoded with Base64) Authorization=" + base64.StdEncoding.EncodeToString(hash[:]))
	return authError(typeIncompleteSignature, message.String())
}

func parseQuery(r *http.Request) (a authorization, err error) {
	query, err := queryOf(r)
	if err != nil {
		return a, err
	}
	a.query = true
	a.lifetime = clockWindow
	if query.Has("X-Amz-Expires") {
		if a.lifetime, err = parseExpires(query.Get("X-Amz-Expires")); err != nil {
			return a, err
		}
	}
	var message strings.Builder
	for _, part := range []struct {
		name string
		to   *string
	}{
		{"X-Amz-Algorithm", &a.algorithm},
		{"X-Amz-Credential", &a.credential},
		{"X-Amz-Signature", &a.signature},
		{"X-Amz-SignedHeaders", &a.signedHeaders},
		{"X-Amz-Date", &a.date},
	} {
		if *part.to = query.Get(part.name); *part.to == "" {
			message.WriteString("AWS query-string parameters must include '" + part.name + "'. ")
		}
	}
	if message.Len() > 0 {
		return a, authError(typeIncompleteSignature, message.String()+"Re-examine the query-string parameters.")
	}
	return a, a.wellFormed()
}

// queryOf returns what is in a request's query. Parts that cannot be read would
// be left out otherwise, of what is looked at and of what is signed.
func queryOf(r *http.Request) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, authError(typeIncompleteSignature, "AWS query-string parameters cannot be read: "+err.Error()+". Re-examine the query-string parameters.")
	}
	return query, nil
}

// maxExpires is the longest time that AWS lets a query be good for.
const maxExpires = 7 * 24 * time.Hour

// parseExpires reads how many seconds after its date a query is good.
func parseExpires(text string) (time.Duration, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, authError(typeIncompleteSignature, "X-Amz-Expires should be a number")
	case seconds < 0:
		return 0, authError(typeIncompleteSignature, "X-Amz-Expires must be non-negative")
	case seconds > int64(maxExpires/time.Second):
		return 0, authError(typeIncompleteSignature, "X-Amz-Expires must be less than a week (in seconds); "+
			"that is, the given X-Amz-Expires must be less than 604800 seconds")
	}
	return time.Duration(seconds) * time.Second, nil
}

func (a *authorization) wellFormed() error {
	if a.algorithm != algorithm {
		return authError(typeIncompleteSignature, "Unsupported AWS 'algorithm': '"+a.algorithm+"' (only "+algorithm+" for now). ")
	}
	if strings.Count(a.credential, "/") != 4 {
		return authError(typeIncompleteSignature,
			"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '"+a.credential+"'")
	}
	return nil
}

// signs reports whether a header is among those signed.
func (a *authorization) signs(header string) bool {
	for name := range strings.SplitSeq(a.signedHeaders, ";") {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// headerOf returns a header by its name in canonical form.
func headerOf(r *http.Request, name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
