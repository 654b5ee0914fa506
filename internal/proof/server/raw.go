package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// signRequest returns the request for an operation, signed with the proof's credentials.
func signRequest(ctx context.Context, url, operation string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	hash := sha256.Sum256(body)
	signer := v4.NewSigner()
	err = signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, r, hex.EncodeToString(hash[:]), "dynamodb", "us-east-1", time.Now())
	return r, err
}

var signature = regexp.MustCompile(`Signature=[0-9a-f]{64}`)

// rawRequest returns the bytes of a signed request up to its body.
func rawRequest(ctx context.Context, url, operation string, body []byte, forged bool) ([]byte, error) {
	r, err := signRequest(ctx, url, operation, body)
	if err != nil {
		return nil, err
	}
	if forged {
		wrong := signature.ReplaceAllString(r.Header.Get("Authorization"), "Signature="+strings.Repeat("0", 64))
		r.Header.Set("Authorization", wrong)
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", r.Host, len(body))
	if err := r.Header.Write(&head); err != nil {
		return nil, err
	}
	head.WriteString("\r\n")
	return head.Bytes(), nil
}

// exchange sends text over a connection of its own and returns what the first answer says.
func exchange(ctx context.Context, addr, text string, within time.Duration) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return nil, "", err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, "", err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response, string(body), err
}
