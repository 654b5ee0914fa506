package engine

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Encryption is an SSESpecification. The engine encrypts nothing; it describes what was asked for.
type Encryption struct {
	Enabled *bool
	Type    *string // KMS
	Key     *string // an ARN, an ID or an alias
}

// on reports whether the table is to be encrypted with a key of KMS. Otherwise it has one of the service's, of which nothing is told.
func (s *Encryption) on() bool {
	return s != nil && (s.Enabled != nil && *s.Enabled || s.Enabled == nil && s.Type != nil)
}

func (c *constraints) encryption(at string, s *Encryption) {
	if s != nil {
		c.word(at+".sSEType", s.Type, "AES256", "KMS")
	}
}

// check checks an SSESpecification as far as that can be done without the table.
func (s *Encryption) check() error {
	if s == nil {
		return nil
	}
	off := s.Enabled != nil && !*s.Enabled
	switch {
	case off && s.Type != nil:
		return invalidParameter("SSEType can not be specified if Enabled is false")
	case off && s.Key != nil:
		return invalidParameter("KMSMasterKeyId can not be specified if Enabled is false")
	case s.Key != nil && s.Type == nil:
		return invalidParameter("SSEType KMS is required if KMSMasterKeyId is specified")
	case s.Type != nil && *s.Type == "AES256":
		return invalidParameter("SSEType AES256 is not supported")
	}
	return nil
}

// checkChange checks that a specification changes how the table is encrypted. Naming the key in another way than by its ARN is a change.
func (s *Encryption) checkChange(d *TableDescription) error {
	switch {
	case s == nil:
	case !s.on() && !d.SSEEnabled:
		return invalidParameter("Table is already encrypted by default")
	case s.Key != nil && *s.Key == d.SSEKey:
		return invalidParameter("Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change Master Key")
	}
	return nil
}

// encrypt describes the table as encrypted in the way that was asked for.
func (d *TableDescription) encrypt(s *Encryption) {
	d.SSEEnabled, d.SSEKey = s.on(), ""
	if d.SSEEnabled {
		d.SSEKey = s.key(d.ARN)
	}
}

// key returns the ARN of the key that is meant, in the region and account of the table.
func (s *Encryption) key(table string) string {
	key := "alias/aws/dynamodb"
	if s.Key != nil {
		key = *s.Key
	}
	if strings.HasPrefix(key, "arn:") && !strings.Contains(key, ":alias/") {
		return strings.Clone(key)
	}
	owner := strings.Replace(table[:strings.LastIndexByte(table, ':')], ":dynamodb:", ":kms:", 1)
	if i := strings.Index(key, "alias/"); i >= 0 {
		key = aliased(owner, key[i:])
	}
	return owner + ":key/" + key
}

// aliased returns the ID of the key that an alias stands for: always the same one in an account and region.
func aliased(owner, alias string) string {
	sum := sha256.Sum256([]byte(owner + ":" + alias))
	return formatUUID([16]byte(sum[:]))
}

// formatUUID spells random or hashed bytes as a UUID (version 4).
func formatUUID(u [16]byte) string {
	u[6] = u[6]&0x0F | 0x40
	u[8] = u[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
