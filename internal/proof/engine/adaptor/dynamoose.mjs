// What the manual of Dynamoose shows.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(`${process.env.MODULES}/`)
const dynamoose = require('dynamoose')

const waitForActive = { enabled: true, check: { frequency: 10, timeout: 20_000 } }
dynamoose.Table.defaults.set({ waitForActive, initialize: false })
const dynamoDB = dynamoose.aws.ddb()

const schema = (more = {}) => new dynamoose.Schema({
  owner: { type: String, hashKey: true },
  id: { type: Number, rangeKey: true },
  name: { type: String, index: { name: 'byName', type: 'global', rangeKey: 'age' } },
  age: { type: Number, index: { name: 'byAge', type: 'local' } },
  tags: { type: Set, schema: [String] },
  address: { type: Object, schema: { city: String, zip: Number } },
  toys: { type: Array, schema: [String] },
  born: Date,
  good: Boolean,
  ...more
}, { timestamps: true })

const Dog = dynamoose.model('Dog', schema())
const kennel = new dynamoose.Table('Kennel', [Dog], {
  throughput: 'ON_DEMAND', tags: { team: 'a' }, expires: { ttl: 86_400_000, attribute: 'ttl' }, streamOptions: { enabled: true, type: 'NEW_IMAGE' }
})

test('a table is made', async () => {
  await kennel.initialize()
  const { Table } = await dynamoDB.describeTable({ TableName: 'Kennel' })
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST')
  assert.deepEqual(Table.GlobalSecondaryIndexes.map((index) => index.IndexName), ['byName'])
  assert.deepEqual(Table.LocalSecondaryIndexes.map((index) => index.IndexName), ['byAge'])
  assert.equal(Table.StreamSpecification.StreamViewType, 'NEW_IMAGE')
})

test('a table has its tags', async () => {
  const { Table } = await dynamoDB.describeTable({ TableName: 'Kennel' })
  assert.deepEqual((await dynamoDB.listTagsOfResource({ ResourceArn: Table.TableArn })).Tags, [{ Key: 'team', Value: 'a' }])
})

test('a table has its TTL', async () => {
  const { TimeToLiveDescription } = await dynamoDB.describeTimeToLive({ TableName: 'Kennel' })
  assert.deepEqual(TimeToLiveDescription, { AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' })
})

const born = new Date('2020-01-02T03:04:05Z')

test('create and get', async () => {
  await Dog.create({ owner: 'a', id: 1, name: 'Rex', age: 3, tags: new Set(['big', 'old']), address: { city: 'Bonn', zip: 5 }, toys: ['ball'], born, good: true })
  const dog = await Dog.get({ owner: 'a', id: 1 })
  assert.equal(dog.name, 'Rex')
  assert.deepEqual(dog.tags, new Set(['big', 'old']))
  assert.deepEqual({ ...dog.address }, { city: 'Bonn', zip: 5 })
  assert.deepEqual([...dog.toys], ['ball'])
  assert.equal(dog.born.getTime(), born.getTime())
  assert.ok(dog.ttl > new Date())
  assert.ok(dog.createdAt)
})

test('get some attributes, consistently', async () => {
  const dog = await Dog.get({ owner: 'a', id: 1 }, { attributes: ['name', 'age'], consistent: true })
  assert.deepEqual({ ...dog }, { name: 'Rex', age: 3 })
})

test('an item that is not there', async () => {
  assert.equal(await Dog.get({ owner: 'a', id: 99 }), undefined)
})

test('create refuses what exists', async () => {
  await assert.rejects(Dog.create({ owner: 'a', id: 1, name: 'Max' }), { name: 'ConditionalCheckFailedException' })
})

test('create with overwrite', async () => {
  await Dog.create({ owner: 'a', id: 2, name: 'Max' })
  await Dog.create({ owner: 'a', id: 2, name: 'Moritz', age: 1 }, { overwrite: true })
  assert.equal((await Dog.get({ owner: 'a', id: 2 })).name, 'Moritz')
})

test('save an item', async () => {
  const dog = await Dog.get({ owner: 'a', id: 2 })
  dog.age = 2
  await dog.save()
  assert.equal((await Dog.get({ owner: 'a', id: 2 })).age, 2)
})

test('update', async () => {
  const dog = await Dog.update({ owner: 'a', id: 2 }, { name: 'Mo', good: false })
  assert.equal(dog.name, 'Mo')
  assert.equal(dog.age, 2)
})

test('update with $ADD, $SET, $REMOVE and $DELETE', async () => {
  const dog = await Dog.update({ owner: 'a', id: 1 }, { $ADD: { age: 2 }, $SET: { name: 'King' }, $REMOVE: ['good'], $DELETE: { tags: ['old'] } })
  assert.equal(dog.age, 5)
  assert.equal(dog.name, 'King')
  assert.equal(dog.good, undefined)
  assert.deepEqual(dog.tags, new Set(['big']))
})

test('update of a list with $ADD', async () => {
  assert.deepEqual([...(await Dog.update({ owner: 'a', id: 1 }, { $ADD: { toys: ['bone'] } })).toys], ['ball', 'bone'])
})

test('update on a condition', async () => {
  const young = new dynamoose.Condition().where('age').lt(3).and().attribute('name').exists()
  await assert.rejects(Dog.update({ owner: 'a', id: 1 }, { name: 'X' }, { condition: young }), { name: 'ConditionalCheckFailedException' })
  assert.equal((await Dog.update({ owner: 'a', id: 2 }, { name: 'Y' }, { condition: young })).name, 'Y')
})

test('update returns what there was', async () => {
  assert.equal((await Dog.update({ owner: 'a', id: 2 }, { name: 'Z' }, { returnValues: 'UPDATED_OLD' })).name, 'Y')
})

test('delete on a condition', async () => {
  const failed = Dog.delete({ owner: 'a', id: 2 }, { condition: new dynamoose.Condition('name').eq('nobody') })
  await assert.rejects(failed, { name: 'ConditionalCheckFailedException' })
  await Dog.delete({ owner: 'a', id: 2 })
  assert.equal(await Dog.get({ owner: 'a', id: 2 }), undefined)
})

test('batches put', async () => {
  for (let from = 0; from < 50; from += 25) {
    const dogs = Array.from({ length: 25 }, (_, i) => from + i).map((id) => ({ owner: id % 2 ? 'odd' : 'even', id, name: `n${id % 5}`, age: id % 10, tags: new Set([`t${id % 3}`]) }))
    assert.deepEqual((await Dog.batchPut(dogs)).unprocessedItems, [])
  }
})

test('batches get', async () => {
  const found = await Dog.batchGet([{ owner: 'odd', id: 1 }, { owner: 'even', id: 2 }, { owner: 'odd', id: 2 }])
  assert.deepEqual(found.map((dog) => dog.id).sort(), [1, 2])
  assert.equal(found.unprocessedKeys.length, 0)
})

test('batches delete', async () => {
  await Dog.batchDelete([{ owner: 'odd', id: 1 }, { owner: 'odd', id: 3 }])
  assert.equal((await Dog.query('owner').eq('odd').count().exec()).count, 23)
})

test('query with a range', async () => {
  const dogs = await Dog.query('owner').eq('even').where('id').between(10, 20).exec()
  assert.deepEqual(dogs.map((dog) => dog.id), [10, 12, 14, 16, 18, 20])
})

test('query downwards with a limit', async () => {
  const dogs = await Dog.query('owner').eq('even').sort('descending').limit(3).exec()
  assert.deepEqual(dogs.map((dog) => dog.id), [48, 46, 44])
})

test('query page by page', async () => {
  const ids = []
  let lastKey
  do {
    const query = Dog.query('owner').eq('even').limit(4)
    const page = await (lastKey ? query.startAt(lastKey) : query).exec()
    ids.push(...page.map((dog) => dog.id))
    lastKey = page.lastKey
  } while (lastKey)
  assert.deepEqual(ids, Array.from({ length: 25 }, (_, i) => 2 * i))
})

test('query all pages', async () => {
  assert.equal((await Dog.query('owner').eq('even').limit(4).all().exec()).length, 25)
})

test('query a global index', async () => {
  const dogs = await Dog.query('name').eq('n2').using('byName').exec()
  assert.deepEqual(dogs.map((dog) => dog.id).sort((a, b) => a - b), [2, 7, 12, 17, 22, 27, 32, 37, 42, 47])
})

test('a global index is found by itself', async () => {
  assert.equal((await Dog.query('name').eq('n2').where('age').ge(5).exec()).length, 5)
})

test('query a local index', async () => {
  assert.equal((await Dog.query('owner').eq('even').where('age').eq(4).using('byAge').exec()).length, 5)
})

test('query with filters', async () => {
  const dogs = await Dog.query('owner').eq('even').where('id').gt(5).filter('tags').contains('t1').filter('name').in(['n0', 'n1']).exec()
  assert.deepEqual(dogs.map((dog) => dog.id), [10, 16, 40, 46])
})

test('query with or and parentheses', async () => {
  const dogs = await Dog.query('owner').eq('odd').parenthesis(new dynamoose.Condition().where('age').eq(5).or().where('name').eq('n1')).exec()
  assert.ok(dogs.every((dog) => dog.age === 5 || dog.name === 'n1'))
  assert.equal(dogs.length, 9)
})

const scans = [
  ['eq', () => Dog.scan('name').eq('n3'), 9], ['not eq', () => Dog.scan('owner').eq('odd').where('name').not().eq('n3'), 19],
  ['lt', () => Dog.scan('id').lt(10).where('owner').beginsWith('e'), 5], ['le', () => Dog.scan('id').le(10).where('owner').eq('even'), 6],
  ['gt', () => Dog.scan('id').gt(40), 9], ['ge', () => Dog.scan('id').ge(40), 10], ['between', () => Dog.scan('id').between(40, 44), 5],
  ['in', () => Dog.scan('id').in([40, 41, 99]), 2], ['exists', () => Dog.scan('born').exists(), 1], ['not exists', () => Dog.scan('born').not().exists(), 48],
  ['contains', () => Dog.scan('tags').contains('t0'), 16], ['not contains', () => Dog.scan('tags').not().contains('t0'), 33],
  ['a nested attribute', () => Dog.scan('address.city').eq('Bonn'), 1], ['or', () => Dog.scan('id').eq(40).or().where('id').eq(41), 2],
  ['an object of conditions', () => Dog.scan({ id: 40, owner: { eq: 'even' } }), 1]
]
for (const [name, scan, want] of scans) {
  test(`scan with ${name}`, async () => {
    assert.equal((await scan().exec()).count, want)
  })
}

test('scan in segments', async () => {
  const dogs = await Dog.scan().parallel(4).exec()
  assert.equal(dogs.length, 49)
  assert.equal(dogs.timesScanned, 4)
})

test('scan all pages', async () => {
  const dogs = await Dog.scan().limit(10).all().exec()
  assert.equal(dogs.length, 49)
})

test('scan counts', async () => {
  const { count, scannedCount } = await Dog.scan('owner').eq('odd').count().exec()
  assert.deepEqual([count, scannedCount], [23, 49])
})

test('a transaction writes all of it', async () => {
  await dynamoose.transaction([
    Dog.transaction.create({ owner: 't', id: 1, name: 'T' }),
    Dog.transaction.update({ owner: 'even', id: 2 }, { name: 'changed' }),
    Dog.transaction.delete({ owner: 'even', id: 4 }),
    Dog.transaction.condition({ owner: 'even', id: 6 }, new dynamoose.Condition('age').eq(6))
  ])
  assert.equal((await Dog.get({ owner: 't', id: 1 })).name, 'T')
  assert.equal(await Dog.get({ owner: 'even', id: 4 }), undefined)
})

test('a transaction writes nothing of it', async () => {
  const failed = dynamoose.transaction([Dog.transaction.create({ owner: 't', id: 2 }), Dog.transaction.create({ owner: 't', id: 1 })])
  await assert.rejects(failed, (err) => err.name === 'TransactionCanceledException' && err.CancellationReasons[1].Code === 'ConditionalCheckFailed')
  assert.equal(await Dog.get({ owner: 't', id: 2 }), undefined)
})

test('a transaction reads', async () => {
  const dogs = await dynamoose.transaction([Dog.transaction.get({ owner: 't', id: 1 }), Dog.transaction.get({ owner: 'even', id: 2 })])
  assert.deepEqual(dogs.map((dog) => dog.name), ['T', 'changed'])
})

// updated is a table that a later version of a program finds.
async function updated (name, throughput, more) {
  await new dynamoose.Table(name, [dynamoose.model(`${name}1`, schema())], { throughput }).initialize()
  const next = dynamoose.model(`${name}2`, schema(more))
  await new dynamoose.Table(name, [next], { throughput, update: ['indexes', 'throughput'] }).initialize()
  const { Table } = await dynamoDB.describeTable({ TableName: name })
  return (Table.GlobalSecondaryIndexes ?? []).map((index) => index.IndexName).sort()
}

const byColor = { color: { type: String, index: { name: 'byColor', type: 'global' } } }

test('a table on demand gets another index', async () => {
  assert.deepEqual(await updated('Demand', 'ON_DEMAND', byColor), ['byColor', 'byName'])
})

test('a table on demand keeps its indexes', async () => {
  assert.deepEqual(await updated('Kept', 'ON_DEMAND'), ['byName'])
})

test('a provisioned table keeps its indexes', async () => {
  assert.deepEqual(await updated('Provisioned', { read: 5, write: 5 }), ['byName'])
})

test('a provisioned table gets another capacity', async () => {
  const model = (of) => dynamoose.model(of, { id: String })
  await new dynamoose.Table('Capacity', [model('Capacity1')], { throughput: { read: 5, write: 5 } }).initialize()
  await new dynamoose.Table('Capacity', [model('Capacity2')], { throughput: { read: 7, write: 6 }, update: true }).initialize()
  const { Table } = await dynamoDB.describeTable({ TableName: 'Capacity' })
  assert.deepEqual([Table.ProvisionedThroughput.ReadCapacityUnits, Table.ProvisionedThroughput.WriteCapacityUnits], [7, 6])
})
