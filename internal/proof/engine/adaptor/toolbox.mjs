// What the manual of dynamodb-toolbox shows.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { before, test } from 'node:test'

const require = createRequire(`${process.env.MODULES}/`)
const { DynamoDBClient, CreateTableCommand } = require('@aws-sdk/client-dynamodb')
const { DynamoDBDocumentClient } = require('@aws-sdk/lib-dynamodb')
const {
  Table, Entity, item, string, number, boolean, list, map, set, record, anyOf,
  PutItemCommand, GetItemCommand, UpdateItemCommand, UpdateAttributesCommand, DeleteItemCommand, QueryCommand, ScanCommand, DeletePartitionCommand,
  BatchGetCommand, BatchGetRequest, executeBatchGet, BatchWriteCommand, BatchPutRequest, BatchDeleteRequest, executeBatchWrite,
  PutTransaction, UpdateTransaction, DeleteTransaction, ConditionCheck, GetTransaction, executeTransactWrite, executeTransactGet,
  $add, $remove, $append, $prepend, $set, $sum, $get, $subtract, $delete
} = require('dynamodb-toolbox')

const dynamoDB = new DynamoDBClient({})
const documentClient = DynamoDBDocumentClient.from(dynamoDB)

const table = new Table({
  name: 'pokemons',
  partitionKey: { name: 'pk', type: 'string' },
  sortKey: { name: 'sk', type: 'string' },
  indexes: {
    byLevel: { type: 'global', partitionKey: { name: 'trainer', type: 'string' }, sortKey: { name: 'level', type: 'number' } },
    byName: { type: 'local', sortKey: { name: 'name', type: 'string' } }
  },
  documentClient
})

const Pokemon = new Entity({
  name: 'POKEMON',
  table,
  schema: item({
    trainer: string().key(),
    id: string().key(),
    name: string().optional(),
    level: number().default(1),
    caught: boolean().default(false),
    moves: list(string()).optional(),
    tags: set(string()).optional(),
    stats: map({ hp: number(), speed: number().optional() }).optional(),
    scores: record(string(), number()).optional(),
    held: anyOf(string(), number()).optional()
  }),
  computeKey: ({ trainer, id }) => ({ pk: `T#${trainer}`, sk: `P#${id}` })
})

const key = (id, trainer = 'ash') => ({ trainer, id })
const put = (of, options = {}) => Pokemon.build(PutItemCommand).item(of).options(options).send()
const get = async (id, options = {}) => (await Pokemon.build(GetItemCommand).key(key(id)).options({ consistent: true, ...options }).send()).Item
const update = async (of, options = {}) => (await Pokemon.build(UpdateItemCommand).item(of).options({ returnValues: 'ALL_NEW', ...options }).send()).Attributes

before(() => dynamoDB.send(new CreateTableCommand({
  TableName: 'pokemons',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [['pk', 'S'], ['sk', 'S'], ['trainer', 'S'], ['level', 'N'], ['name', 'S']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [{
    IndexName: 'byLevel', Projection: { ProjectionType: 'ALL' }, KeySchema: [{ AttributeName: 'trainer', KeyType: 'HASH' }, { AttributeName: 'level', KeyType: 'RANGE' }]
  }],
  LocalSecondaryIndexes: [{
    IndexName: 'byName', Projection: { ProjectionType: 'ALL' }, KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'name', KeyType: 'RANGE' }]
  }]
})))

test('put and get', async () => {
  await put({ ...key('1'), name: 'pikachu', level: 5, moves: ['a'], tags: new Set(['yellow']), stats: { hp: 35, speed: 90 }, scores: { x: 1 }, held: 7 })
  const { created, modified, entity, ...rest } = await get('1')
  assert.deepEqual(rest, {
    ...key('1'), name: 'pikachu', level: 5, caught: false, moves: ['a'], tags: new Set(['yellow']), stats: { hp: 35, speed: 90 }, scores: { x: 1 }, held: 7
  })
  assert.equal(created, modified)
})

test('an item that is not there', async () => {
  assert.equal(await get('none'), undefined)
})

test('put returns what was there', async () => {
  const { Attributes } = await put({ ...key('1'), name: 'pikachu', level: 6 }, { returnValues: 'ALL_OLD' })
  assert.equal(Attributes.level, 5)
})

test('put on a condition', async () => {
  await put({ ...key('2'), name: 'eevee' }, { condition: { attr: 'id', exists: false } })
  await assert.rejects(put({ ...key('2') }, { condition: { attr: 'id', exists: false } }), { name: 'ConditionalCheckFailedException' })
})

test('a failed condition returns the item', async () => {
  await assert.rejects(put({ ...key('2') }, { condition: { attr: 'level', gt: 10 }, returnValuesOnConditionFalse: 'ALL_OLD' }), (err) => err.Item.name.S === 'eevee')
})

test('get some attributes', async () => {
  assert.deepEqual(await get('2', { attributes: ['name', 'level'] }), { name: 'eevee', level: 1 })
})

test('the capacity of a get', async () => {
  const { ConsumedCapacity } = await Pokemon.build(GetItemCommand).key(key('2')).options({ capacity: 'TOTAL' }).send()
  assert.deepEqual(ConsumedCapacity, { TableName: 'pokemons', CapacityUnits: 0.5 })
})

test('update adds and removes', async () => {
  const after = await update({ ...key('2'), level: $add(3), name: $remove(), tags: $add(new Set(['new'])) })
  assert.equal(after.level, 4)
  assert.equal(after.name, undefined)
  assert.deepEqual(after.tags, new Set(['new']))
})

test('update of sums and references', async () => {
  assert.equal((await update({ ...key('2'), level: $sum($get('level'), 10) })).level, 14)
  assert.equal((await update({ ...key('2'), level: $subtract($get('level'), 4) })).level, 10)
})

test('update of lists', async () => {
  await update({ ...key('2'), moves: $set(['b']) })
  await update({ ...key('2'), moves: $append(['c']) })
  const { moves } = await update({ ...key('2'), moves: $prepend(['a']) })
  assert.deepEqual(moves, ['a', 'b', 'c'])
  assert.deepEqual((await update({ ...key('2'), moves: { 1: $remove() } })).moves, ['a', 'c'])
})

test('update of sets', async () => {
  await update({ ...key('2'), tags: $add(new Set(['old', 'big'])) })
  assert.deepEqual((await update({ ...key('2'), tags: $delete(new Set(['new', 'big'])) })).tags, new Set(['old']))
})

test('update of maps and records', async () => {
  await update({ ...key('2'), stats: $set({ hp: 1, speed: 2 }), scores: $set({ y: 1 }) })
  const { stats, scores } = await update({ ...key('2'), stats: { hp: $add(9), speed: $remove() }, scores: { z: 5 } })
  assert.deepEqual(stats, { hp: 10 })
  assert.deepEqual(scores, { y: 1, z: 5 })
})

test('update attributes', async () => {
  const { Attributes } = await Pokemon.build(UpdateAttributesCommand).item({ ...key('2'), stats: { hp: 3 }, caught: true }).options({ returnValues: 'UPDATED_NEW' }).send()
  assert.deepEqual(Attributes.stats, { hp: 3 })
  assert.equal(Attributes.caught, true)
})

test('update on a condition', async () => {
  const condition = { or: [{ attr: 'level', between: [100, 200] }, { not: { attr: 'tags', contains: 'old' } }, { attr: 'name', type: 'S' }] }
  await assert.rejects(update({ ...key('2'), level: 1 }, { condition }), { name: 'ConditionalCheckFailedException' })
  assert.equal((await update({ ...key('2'), level: 11 }, { condition: { size: 'moves', eq: 2 } })).level, 11)
})

test('delete', async () => {
  const { Attributes } = await Pokemon.build(DeleteItemCommand).key(key('2')).options({ returnValues: 'ALL_OLD' }).send()
  assert.equal(Attributes.level, 11)
  assert.equal(await get('2'), undefined)
})

test('batches write', async () => {
  for (let from = 0; from < 60; from += 20) {
    const requests = Array.from({ length: 20 }, (_, i) => from + i).map((i) =>
      Pokemon.build(BatchPutRequest).item({ trainer: i % 2 ? 'misty' : 'brock', id: String(i).padStart(3, '0'), name: `n${i % 7}`, level: i }))
    const { UnprocessedItems } = await executeBatchWrite(table.build(BatchWriteCommand).requests(...requests))
    assert.deepEqual(UnprocessedItems ?? {}, {})
  }
})

test('batches delete and put', async () => {
  await executeBatchWrite(table.build(BatchWriteCommand).requests(
    Pokemon.build(BatchDeleteRequest).key({ trainer: 'brock', id: '000' }),
    Pokemon.build(BatchPutRequest).item({ trainer: 'brock', id: '100', name: 'new', level: 100 })))
})

test('batches get', async () => {
  const ids = ['001', '003', '999']
  const requests = ids.map((id) => Pokemon.build(BatchGetRequest).key({ trainer: 'misty', id }))
  const { Responses } = await executeBatchGet(table.build(BatchGetCommand).requests(...requests).options({ consistent: true }))
  assert.deepEqual(Responses[0].map((found) => found?.level), [1, 3, undefined])
})

const query = (of, options = {}) => table.build(QueryCommand).query(of).entities(Pokemon).options(options).send()

test('query a partition', async () => {
  const { Items, Count } = await query({ partition: 'T#misty' }, { maxPages: Infinity })
  assert.equal(Count, 30)
  assert.deepEqual(Items.map((found) => found.level), Array.from({ length: 30 }, (_, i) => 2 * i + 1))
})

for (const [name, range, want] of [
  ['beginsWith', { beginsWith: 'P#00' }, 5], ['between', { between: ['P#010', 'P#020'] }, 5], ['lt', { lt: 'P#010' }, 5],
  ['lte', { lte: 'P#011' }, 6], ['gt', { gt: 'P#051' }, 4], ['gte', { gte: 'P#051' }, 5], ['eq', { eq: 'P#001' }, 1]
]) {
  test(`query a range with ${name}`, async () => {
    assert.equal((await query({ partition: 'T#misty', range })).Items.length, want)
  })
}

test('query page by page, backwards', async () => {
  const levels = []
  let exclusiveStartKey, pages = 0
  do {
    const page = await query({ partition: 'T#misty' }, { limit: 7, reverse: true, exclusiveStartKey })
    levels.push(...page.Items.map((found) => found.level))
    exclusiveStartKey = page.LastEvaluatedKey
    pages++
  } while (exclusiveStartKey && pages < 20)
  assert.deepEqual(levels, Array.from({ length: 30 }, (_, i) => 59 - 2 * i))
  assert.equal(pages, 5)
})

test('query a global index', async () => {
  const { Items } = await query({ index: 'byLevel', partition: 'brock', range: { gt: 50 } })
  assert.deepEqual(Items.map((found) => found.level), [52, 54, 56, 58, 100])
})

test('query a local index', async () => {
  const { Items } = await query({ index: 'byName', partition: 'T#misty', range: { eq: 'n3' } }, { consistent: true })
  assert.deepEqual(Items.map((found) => found.level).sort((a, b) => a - b), [3, 17, 31, 45, 59])
})

test('query with a filter, counting', async () => {
  const { Count, ScannedCount } = await query({ partition: 'T#misty' }, { filters: { POKEMON: { attr: 'level', gte: 30 } }, select: 'COUNT' })
  assert.deepEqual([Count, ScannedCount], [15, 30])
})

test('query some attributes', async () => {
  const { Items } = await query({ partition: 'T#misty', range: { eq: 'P#001' } }, { attributes: ['level'] })
  assert.deepEqual(Items, [{ level: 1 }])
})

test('scan page by page', async () => {
  const seen = new Set()
  let exclusiveStartKey
  do {
    const page = await table.build(ScanCommand).entities(Pokemon).options({ limit: 9, exclusiveStartKey }).send()
    page.Items.forEach((found) => seen.add(found.trainer + found.id))
    exclusiveStartKey = page.LastEvaluatedKey
  } while (exclusiveStartKey)
  assert.equal(seen.size, 61)
})

test('scan in segments', async () => {
  const counts = await Promise.all([0, 1, 2, 3].map(async (segment) =>
    (await table.build(ScanCommand).entities(Pokemon).options({ segment, totalSegments: 4, maxPages: Infinity }).send()).Items.length))
  assert.equal(counts.reduce((a, b) => a + b), 61)
})

test('scan an index with a filter', async () => {
  const { Items } = await table.build(ScanCommand).entities(Pokemon).options({ index: 'byLevel', filters: { POKEMON: { attr: 'name', beginsWith: 'new' } } }).send()
  assert.deepEqual(Items.map((found) => found.id), ['100'])
})

test('a transaction writes all of it', async () => {
  await executeTransactWrite(
    { clientRequestToken: 'once' },
    Pokemon.build(PutTransaction).item({ ...key('t1'), level: 1 }),
    Pokemon.build(UpdateTransaction).item({ trainer: 'brock', id: '002', level: $add(1) }),
    Pokemon.build(DeleteTransaction).key({ trainer: 'brock', id: '004' }),
    Pokemon.build(ConditionCheck).key({ trainer: 'brock', id: '006' }).condition({ attr: 'level', eq: 6 }))
  assert.equal((await get('t1')).level, 1)
})

test('a transaction with the same token writes once', async () => {
  const one = (id) => executeTransactWrite({ clientRequestToken: 'twice' },
    Pokemon.build(DeleteTransaction).key({ trainer: 'brock', id }).options({ condition: { attr: 'level', exists: true } }))
  await one('008')
  await one('008')
  await assert.rejects(one('010'), { name: 'IdempotentParameterMismatchException' })
})

test('a transaction writes nothing of it', async () => {
  const failed = executeTransactWrite(
    Pokemon.build(PutTransaction).item({ ...key('t2'), level: 1 }),
    Pokemon.build(ConditionCheck).key({ trainer: 'brock', id: '006' }).condition({ attr: 'level', eq: 7 }))
  await assert.rejects(failed, (err) => {
    assert.equal(err.name, 'TransactionCanceledException')
    assert.deepEqual(err.CancellationReasons.map((reason) => reason.Code), ['None', 'ConditionalCheckFailed'])
    return true
  })
  assert.equal(await get('t2'), undefined)
})

test('a transaction reads', async () => {
  const { Responses } = await executeTransactGet(
    Pokemon.build(GetTransaction).key({ trainer: 'brock', id: '002' }),
    Pokemon.build(GetTransaction).key({ trainer: 'brock', id: '004' }))
  assert.equal(Responses[0].Item.level, 3)
  assert.equal(Responses[1].Item, undefined)
})

test('delete a partition', async () => {
  await table.build(DeletePartitionCommand).query({ partition: 'T#misty' }).entities(Pokemon).send()
  assert.equal((await query({ partition: 'T#misty' })).Count, 0)
  assert.equal((await query({ partition: 'T#brock' })).Count, 28)
})
