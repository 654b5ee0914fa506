package compose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Project makes a projection include what is needed, and returns what it lacked. Without a projection there is nothing
// that it could lack. Of the caller's lists and maps it changes copies only.
func Project(in *dynamodb.GetItemInput, need []string) (added []string, err error) {
	if len(in.AttributesToGet) > 0 {
		in.AttributesToGet = slices.Clone(in.AttributesToGet)
		for _, name := range need {
			if !slices.Contains(in.AttributesToGet, name) {
				in.AttributesToGet = append(in.AttributesToGet, name)
				added = append(added, name)
			}
		}
		return added, nil
	}
	if in.ProjectionExpression == nil {
		return nil, nil
	}
	asked := TopLevel(*in.ProjectionExpression, in.ExpressionAttributeNames)
	names, err := Names(in.ExpressionAttributeNames)
	if err != nil {
		return nil, err
	}
	projection := *in.ProjectionExpression
	for _, name := range need {
		if slices.Contains(asked, name) {
			continue
		}
		alias := "#" + Placeholder + strconv.Itoa(len(added))
		names[alias] = name
		projection += ", " + alias
		added = append(added, name)
	}
	if len(added) > 0 {
		in.ProjectionExpression, in.ExpressionAttributeNames = &projection, names
	}
	return added, nil
}

// PartOf returns the first path of a projection that is a part of an attribute that the read needs, and the attribute. ok
// is false if there is none. DynamoDB takes no path twice, so the whole attribute could not be asked for beside it.
func PartOf(projection string, names map[string]string, needed []string) (path, attribute string, ok bool) {
	for path := range strings.SplitSeq(projection, ",") {
		if i := slices.Index(needed, TopLevel(path, names)[0]); i >= 0 && strings.ContainsAny(path, ".[") {
			return strings.TrimSpace(path), needed[i], true
		}
	}
	return "", "", false
}

// TopLevel returns the attributes that the paths of a projection begin with.
func TopLevel(projection string, names map[string]string) []string {
	var attributes []string
	for path := range strings.SplitSeq(projection, ",") {
		if end := strings.IndexAny(path, ".["); end >= 0 {
			path = path[:end]
		}
		path = strings.TrimSpace(path)
		if name, ok := names[path]; ok {
			path = name
		}
		attributes = append(attributes, path)
	}
	return attributes
}
