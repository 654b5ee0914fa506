package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// image is an item before and after a write, as far as the request and then the answer tell it: enough, often, to know
// under which keys of the table's indexes it was and is.
type image struct {
	key     map[string]types.AttributeValue // the item's own, which no write changes
	changes *changes                        // of an update

	before, after           map[string]types.AttributeValue
	wholeBefore, wholeAfter bool // what before or after lacks the item does not have
}

// now returns an attribute after the write, nil if there is none, and whether that is known.
func (m *image) now(name string) (value types.AttributeValue, known bool) {
	if value = m.after[name]; value != nil || m.wholeAfter {
		return value, true
	}
	if value = m.key[name]; value != nil {
		return value, true
	}
	switch fate, value := m.changes.of(name); fate {
	case set:
		return value, true
	case removed:
		return nil, true
	case unclear:
		return nil, false
	}
	return m.before[name], m.wholeBefore
}

// then returns an attribute before the write.
func (m *image) then(name string) (value types.AttributeValue, known bool) {
	if value = m.before[name]; value != nil || m.wholeBefore {
		return value, true
	}
	if value = m.key[name]; value != nil {
		return value, true
	}
	if m.changes != nil {
		if fate, _ := m.changes.of(name); fate == untouched {
			return m.now(name)
		}
	}
	return nil, false
}

// presence says whether an item is in an index.
type presence int

const (
	unknown presence = iota // or under which key is not known
	absent
	present
)

// keyText is the key of an item in an index, as a stretch of a call's texts.
type keyText struct {
	presence
	begin, end int
	item       uint64
}

// indexKey finds the key under which an item is in an index by its attributes. All of the partition key must be known.
func (c *call) indexKey(names *keyNames, attribute func(string) (types.AttributeValue, bool)) keyText {
	if !names.known() {
		return keyText{}
	}
	e := keyText{begin: len(c.texts)}
	e.presence = c.values(names.partition, attribute)
	e.end = len(c.texts)
	switch c.values(names.sort, attribute) {
	case absent:
		e.presence = absent
	case present:
		if len(names.sort) > 0 {
			e.item = itemHash(c.texts[e.end:])
		}
	}
	c.texts = c.texts[:e.end]
	if e.presence != present {
		c.texts = c.texts[:e.begin]
		return keyText{presence: e.presence}
	}
	return e
}

// values appends the texts of attributes, as key does.
func (c *call) values(names []string, attribute func(string) (types.AttributeValue, bool)) presence {
	all := present
	for i, name := range names {
		if i > 0 {
			c.texts = append(c.texts, '|')
		}
		value, known := attribute(name)
		if known && value == nil {
			return absent // whatever the others are
		}
		var ok bool
		if c.texts, ok = appendKey(c.texts, value); !ok {
			all = unknown
		}
	}
	return all
}

// place is what is known of a write to an index.
type place struct {
	keyText         // where most of it goes: where the item is now, or was
	left    keyText // where the item was, if that is another key
	moved   bool    // it may have been under another key, nobody knows which
}

// place tells which keys of an index a write touches.
func (c *call) place(index *resourceView, m *image) place {
	now := c.indexKey(&index.names, m.now)
	then := c.indexKey(&index.names, m.then)
	switch {
	case now.presence == present && then.presence == present:
		if string(c.texts[now.begin:now.end]) == string(c.texts[then.begin:then.end]) {
			return place{keyText: now}
		}
		return place{keyText: now, left: then}
	case now.presence == present:
		return place{keyText: now, moved: then.presence == unknown}
	case now.presence == absent && then.presence == present:
		return place{keyText: then}
	}
	return place{}
}

// indexed adds the global indexes that an update or a deletion may write to. It is not known whether it does before the
// answer says that they were charged, nor always under which key.
func (c *call) indexed(v *tableView, m *image) {
	control := c.parts[len(c.parts)-1].control
	for i := range v.indexes {
		if control && !v.own.names.mayIndexControl(v.indexes[i].names) {
			continue
		}
		at := c.place(&v.indexes[i], m)
		p := part{counters: v.indexes[i].counters, weight: 1, tentative: true, control: control}
		p.put(&at)
		c.parts = append(c.parts, p)
	}
}

// put says at which key of an index a part is.
func (p *part) put(at *place) {
	p.begin, p.end, p.item = at.begin, at.end, at.item
	p.moved = at.moved
}

// reveal puts the index parts of a write of one item right, now that the answer tells what the item was or has become.
func (c *call) reveal(v *tableView, m *image) {
	control := c.onlyControl(v.own.Table)
	for i := range v.indexes {
		counters := v.indexes[i].counters
		at := c.place(&v.indexes[i], m)
		if at.presence != present {
			continue // nothing more than the request told
		}
		own := c.partOf(counters)
		if own < 0 {
			own = len(c.parts)
			c.parts = append(c.parts, part{counters: counters, weight: 1, tentative: true, control: control})
		}
		c.parts[own].put(&at)
		if at.left.presence == present {
			c.parts = append(c.parts, part{
				counters: counters, begin: at.left.begin, end: at.left.end, item: at.left.item,
				weight: c.parts[own].weight, tentative: true, again: true, control: control,
			})
		}
	}
}

// partOf returns which part is the first of a table or index, -1 if none.
func (c *call) partOf(counters *counters) int {
	for i := range c.parts {
		if c.parts[i].counters == counters {
			return i
		}
	}
	return -1
}

// addUpdate adds an update, of one item or of one in a transaction.
func (c *call) addUpdate(v *tableView, key map[string]types.AttributeValue, expression *string,
	names map[string]string, values map[string]types.AttributeValue, legacy map[string]types.AttributeValueUpdate,
) {
	c.item(v.keyed(key), key, 1)
	if len(v.indexes) == 0 {
		return
	}
	c.changes.reset()
	c.changes.legacy(legacy)
	if expression != nil {
		c.changes.expression(*expression, names, values)
	}
	c.indexed(v, &image{key: key, changes: &c.changes})
}

// addDelete adds a deletion.
func (c *call) addDelete(v *tableView, key map[string]types.AttributeValue) {
	c.item(v.keyed(key), key, 1)
	if len(v.indexes) > 0 {
		c.indexed(v, &image{key: key, wholeAfter: true})
	}
}

// revealPut looks at what a PutItem returns.
func (c *call) revealPut(v *tableView, in *dynamodb.PutItemInput, attributes map[string]types.AttributeValue) {
	if len(v.indexes) > 0 && in.ReturnValues == types.ReturnValueAllOld {
		c.reveal(v, &image{after: in.Item, wholeAfter: true, before: attributes, wholeBefore: true})
	}
}

// revealUpdate looks at what an UpdateItem returns.
func (c *call) revealUpdate(v *tableView, in *dynamodb.UpdateItemInput, attributes map[string]types.AttributeValue) {
	if len(v.indexes) == 0 {
		return
	}
	m := image{key: in.Key, changes: &c.changes}
	switch in.ReturnValues {
	case types.ReturnValueAllNew:
		m.after, m.wholeAfter = attributes, true
	case types.ReturnValueUpdatedNew:
		m.after = attributes
	case types.ReturnValueAllOld:
		m.before, m.wholeBefore = attributes, true
	default:
		return
	}
	c.reveal(v, &m)
}

// revealDelete looks at what a DeleteItem returns.
func (c *call) revealDelete(v *tableView, in *dynamodb.DeleteItemInput, attributes map[string]types.AttributeValue) {
	if len(v.indexes) > 0 && in.ReturnValues == types.ReturnValueAllOld {
		c.reveal(v, &image{key: in.Key, wholeAfter: true, before: attributes, wholeBefore: true})
	}
}
