package wire

import (
	"context"

	"github.com/heatsink-go/heatsink/internal/engine"
)

var tagType = element("Tag")

func (r *request) tags() (list []engine.Tag) {
	for range r.Elements(&listType) {
		var tag engine.Tag
		for name := range r.Members(&tagType) {
			switch name {
			case "Key":
				tag.Key = r.optString()
			case "Value":
				tag.Value = r.optString()
			default:
				r.Skip()
			}
		}
		list = keep(list, tag)
	}
	return list
}

func (r *request) tagResource(in *engine.TagResourceInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ResourceArn":
			in.ResourceARN = r.optString()
		case "Tags":
			in.Tags, in.HasTags = r.tags(), true
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) untagResource(in *engine.UntagResourceInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ResourceArn":
			in.ResourceARN = r.optString()
		case "TagKeys":
			in.Keys, in.HasKeys = r.stringList(), true
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) listTags(in *engine.ListTagsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ResourceArn":
			in.ResourceARN = r.optString()
		case "NextToken":
			r.optString()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) tags(list []engine.Tag) {
	a.array("Tags")
	for _, tag := range list {
		a.element()
		a.string("Key", *tag.Key)
		a.string("Value", *tag.Value)
		a.end('}')
	}
	a.end(']')
}

func (a *answer) nothing(struct{}) {}

// silent is an operation whose answer has no body.
func silent(ask operation) operation {
	return func(ctx context.Context, e *engine.Engine, x *exchange) error {
		err := ask(ctx, e, x)
		if err == nil {
			x.answer.buf = x.answer.buf[:0]
		}
		return err
	}
}
