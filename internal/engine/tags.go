package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/store"
)

// The limits of a table's tags, lengths in characters.
const (
	maxTags        = 50
	maxTagKey      = 128
	maxTagValue    = 256
	maxResourceARN = 1283
)

// TagResource gives a table tags, with new values for those that it has. They are
// there when the answer is; the service takes a moment.
func (e *Engine) TagResource(ctx context.Context, in *TagResourceInput) (struct{}, error) {
	var c constraints
	c.resourceARN(in.ResourceARN)
	c.required("tags", in.HasTags)
	if err := c.err(); err != nil {
		return struct{}{}, err
	}
	if err := in.check(); err != nil {
		return struct{}{}, err
	}
	name, err := e.taggedTable(ctx, "TagResource", *in.ResourceARN)
	if err != nil {
		return struct{}{}, err
	}
	if len(in.Tags) == 0 {
		return struct{}{}, invalid("Atleast one Tag needs to be provided as Input.")
	}
	if err := checkTags(in.Tags); err != nil {
		return struct{}{}, err
	}
	err = e.change(ctx, name, func(t *table, _ *store.Batch) error {
		return t.record.tag(in.Tags)
	}, func(*table) {})
	return struct{}{}, taggedMissing(err, ": ResourcArn: "+*in.ResourceARN+" not found")
}

// UntagResource takes tags from a table. Those that it does not have are no
// error.
func (e *Engine) UntagResource(ctx context.Context, in *UntagResourceInput) (struct{}, error) {
	var c constraints
	c.resourceARN(in.ResourceARN)
	c.required("tagKeys", in.HasKeys)
	if err := c.err(); err != nil {
		return struct{}{}, err
	}
	if err := in.check(); err != nil {
		return struct{}{}, err
	}
	name, err := e.taggedTable(ctx, "UntagResource", *in.ResourceARN)
	if err != nil {
		return struct{}{}, err
	}
	if err := checkTagKeys(in.Keys); err != nil {
		return struct{}{}, err
	}
	err = e.change(ctx, name, func(t *table, _ *store.Batch) error {
		t.record.Tags = slices.DeleteFunc(t.record.Tags, func(tag Tag) bool { return slices.Contains(in.Keys, *tag.Key) })
		return nil
	}, func(*table) {})
	return struct{}{}, taggedMissing(err, "")
}

// ListTagsOfResource tells a table's tags, all of them in one answer.
func (e *Engine) ListTagsOfResource(ctx context.Context, in *ListTagsInput) (out []Tag, err error) {
	var c constraints
	c.resourceARN(in.ResourceARN)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	name, err := e.taggedTable(ctx, "ListTagsOfResource", *in.ResourceARN)
	if err != nil {
		return nil, err
	}
	err = e.view(ctx, &TableInput{TableName: &name}, func(t *table) { out = t.record.Tags })
	return out, taggedMissing(err, ": ResourcArn: "+*in.ResourceARN+" not found")
}

// taggedMissing turns the error of a table that is not there into that of an ARN.
func taggedMissing(err error, suffix string) error {
	if isMissing(err) {
		return errorf(TypeResourceNotFound, "Requested resource not found%s", suffix)
	}
	return err
}

func isMissing(err error) bool {
	var answer *Error
	return errors.As(err, &answer) && answer.Type == TypeResourceNotFound
}

// taggedTable returns the name of the table that an ARN stands for: one that has
// it, or one that would, in this account and region.
func (e *Engine) taggedTable(ctx context.Context, operation, arn string) (string, error) {
	parts := strings.SplitN(arn, ":", 6)
	if parts[0] != "arn" {
		return "", invalidParameter("ARNs must start with 'arn:': %s", arn)
	}
	name, ok := strings.CutPrefix(parts[len(parts)-1], "table/")
	if len(parts) < 6 || !ok || strings.Contains(name, "/backup/") {
		return "", invalidParameter("Provided Arn is not a DynamoDB resource arn: %s", arn)
	}
	if strings.Contains(name, "/") {
		return "", invalidParameter("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: %s", arn)
	}
	if len(name) < 3 || len(name) > 255 || !isName(name) {
		return "", errTableARN(arn)
	}
	its := ""
	if err := e.view(ctx, &TableInput{TableName: &name}, func(t *table) { its = t.record.Description.ARN }); err != nil && !isMissing(err) {
		return "", err
	}
	switch {
	case its == arn: // also if it was created in another account or region
	case parts[4] != e.options.Account:
		return "", errorf(TypeAccessDenied, "User: arn:aws:iam::%s:root is not authorized to perform: dynamodb:%s on resource: %s",
			e.options.Account, operation, arn)
	case parts[1] != "aws" || parts[2] != "dynamodb" || parts[3] != e.options.Region:
		return "", errTableARN(arn)
	}
	return name, nil
}

func errTableARN(arn string) *Error {
	return invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
}

func (c *constraints) resourceARN(arn *string) {
	if c.required("resourceArn", arn != nil) {
		c.text("resourceArn", arn, 1, maxResourceARN, false)
	}
}

// checkTags checks tags that are given together. The texts are DynamoDB's,
// the order of the checks is ours.
func checkTags(list []Tag) error {
	seen := map[string]bool{}
	for _, tag := range list {
		if err := checkTagKey(tag.Key); err != nil {
			return err
		}
		switch key := *tag.Key; {
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return invalid("Tag Key cannot be prefixed with aws:, Key: %s", key)
		case tag.Value == nil:
			return invalid("The Tag Value provided is invalid, Value: null")
		case !tagText(*tag.Value, maxTagValue):
			return invalid("The Tag Value provided is invalid, Value: %s", shown(*tag.Value))
		case seen[key]:
			return invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found %s", key)
		default:
			seen[key] = true
		}
	}
	if len(list) > maxTags {
		return errTooManyTags()
	}
	return nil
}

// checkTagKeys checks the keys of tags that are taken away, of which as many may be named as a table can have.
func checkTagKeys(keys []string) error {
	if len(keys) == 0 {
		return invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	for i := range keys {
		if err := checkTagKey(&keys[i]); err != nil {
			return err
		}
	}
	if len(keys) > maxTags {
		return errTooManyTags()
	}
	return nil
}

func checkTagKey(key *string) error {
	switch {
	case key == nil:
		return invalid("The Tag Key provided is invalid, Key: null")
	case *key == "" || !tagText(*key, maxTagKey):
		return invalid("The Tag Key provided is invalid, Key: %s", shown(*key))
	}
	return nil
}

// tagText reports whether a key or value of a tag has characters that it may have, and not too many.
func tagText(s string, most int) bool {
	return utf8.RuneCountInString(s) <= most && !strings.ContainsFunc(s, notOfTag)
}

func errTooManyTags() *Error {
	return invalid("Number of Tags exceed the current limit for the provided ResourceArn")
}

// notOfTag reports whether no tag may have a character.
func notOfTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsSpace(r) && !strings.ContainsRune("+-=._:/@", r)
}

// tag adds tags to a record, or changes their values.
func (r *tableRecord) tag(list []Tag) error {
	for _, tag := range list {
		tag = Tag{Key: new(strings.Clone(*tag.Key)), Value: new(strings.Clone(*tag.Value))} // not the request's memory
		i := slices.IndexFunc(r.Tags, func(old Tag) bool { return *old.Key == *tag.Key })
		if i < 0 {
			r.Tags = append(r.Tags, tag)
		} else {
			r.Tags[i] = tag
		}
	}
	if len(r.Tags) > maxTags {
		return errTooManyTags()
	}
	return nil
}
