package engine

import (
	"fmt"
	"strings"
	"testing"
)

func tagList(from, to int) (list []Tag) {
	for i := from; i < to; i++ {
		list = append(list, Tag{new(fmt.Sprint("key ", i)), new(fmt.Sprint(i))})
	}
	return list
}

// A table keeps its tags across restarts, also those it was created with, and in
// whatever account it was created.
func TestTagsAreKept(t *testing.T) {
	options := Options{Dir: t.TempDir(), Account: "111122223333"}
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	in := newTableInput("tab", "pk:S")
	in.Tags = tagList(0, 2)
	arn := createTable(t, e, in).ARN
	if _, err := e.TagResource(t.Context(), &TagResourceInput{ResourceARN: &arn, Tags: tagList(1, 3), HasTags: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.UntagResource(t.Context(), &UntagResourceInput{ResourceARN: &arn, Keys: []string{"key 0"}, HasKeys: true}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, account := range []string{options.Account, "444455556666"} {
		options.Account = account
		e, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.ListTagsOfResource(t.Context(), &ListTagsInput{ResourceARN: &arn})
		if err != nil || len(list) != 2 || *list[0].Key != "key 1" || *list[1].Key != "key 2" || *list[1].Value != "2" {
			t.Errorf("account %s: got %v, %v, want the tags 1 and 2", account, list, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The fifty-first tag is refused, and with it all that came along.
func TestTagsAreLimited(t *testing.T) {
	e := openEngine(t, Options{})
	arn := createTable(t, e, newTableInput("tab", "pk:S")).ARN
	tag := func(from, to int) error {
		_, err := e.TagResource(t.Context(), &TagResourceInput{ResourceARN: &arn, Tags: tagList(from, to), HasTags: true})
		return err
	}
	if err := tag(0, 30); err != nil {
		t.Fatal(err)
	}
	if err := tag(20, 51); err == nil || !strings.Contains(err.Error(), "Number of Tags exceed the current limit") {
		t.Errorf("51 tags: got %v, want an error of their number", err)
	}
	if err := tag(20, 50); err != nil {
		t.Errorf("50 tags: %v", err)
	}
	list, err := e.ListTagsOfResource(t.Context(), &ListTagsInput{ResourceARN: &arn})
	if err != nil || len(list) != 50 {
		t.Errorf("got %d tags, %v, want 50", len(list), err)
	}
	in := newTableInput("other", "pk:S")
	in.Tags = tagList(0, 51)
	if _, err := e.CreateTable(t.Context(), in); err == nil {
		t.Error("a table with 51 tags is created")
	}
}
