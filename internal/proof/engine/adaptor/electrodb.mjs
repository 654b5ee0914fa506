// What the manual of ElectroDB shows.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { before, test } from 'node:test'

const require = createRequire(`${process.env.MODULES}/`)
const { DynamoDBClient, CreateTableCommand } = require('@aws-sdk/client-dynamodb')
const { Entity, Service, createConversions } = require('electrodb')

const client = new DynamoDBClient({})
const table = 'company'
const model = (entity) => ({ entity, version: '1', service: 'taskapp' })

const Employee = new Entity({
  model: model('employee'),
  attributes: {
    id: { type: 'string', required: true },
    office: { type: 'string', required: true },
    team: { type: 'string', required: true },
    name: { type: 'string' },
    salary: { type: 'number', default: 10 },
    skills: { type: 'set', items: 'string' },
    address: { type: 'map', properties: { city: { type: 'string' }, zip: { type: 'number' } } },
    history: { type: 'list', items: { type: 'string' } },
    seen: { type: 'number' },
    kind: { type: ['full', 'part'] }
  },
  indexes: {
    employee: { pk: { field: 'pk', composite: ['id'] }, sk: { field: 'sk', composite: [] } },
    byOffice: { index: 'gsi1', collection: ['workplace'], pk: { field: 'gsi1pk', composite: ['office'] }, sk: { field: 'gsi1sk', composite: ['team', 'id'] } },
    assigned: { index: 'gsi2', collection: 'assignments', pk: { field: 'gsi2pk', composite: ['id'] }, sk: { field: 'gsi2sk', composite: [] } }
  }
}, { client, table })

const Task = new Entity({
  model: model('task'),
  attributes: {
    task: { type: 'string', required: true },
    project: { type: 'string', required: true },
    id: { type: 'string', required: true },
    points: { type: 'number' },
    office: { type: 'string' },
    status: { type: 'string', default: 'open' }
  },
  indexes: {
    task: { pk: { field: 'pk', composite: ['task'] }, sk: { field: 'sk', composite: ['project'] } },
    office: { index: 'gsi1', collection: ['workplace'], pk: { field: 'gsi1pk', composite: ['office'] }, sk: { field: 'gsi1sk', composite: ['project', 'task'] } },
    assigned: { index: 'gsi2', collection: 'assignments', pk: { field: 'gsi2pk', composite: ['id'] }, sk: { field: 'gsi2sk', composite: ['project', 'task'] } }
  }
}, { client, table })

const service = new Service({ employee: Employee, task: Task }, { client, table })

before(() => {
  const schema = (pk, sk) => [{ AttributeName: pk, KeyType: 'HASH' }, { AttributeName: sk, KeyType: 'RANGE' }]
  return client.send(new CreateTableCommand({
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk', 'gsi2pk', 'gsi2sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: schema('pk', 'sk'),
    GlobalSecondaryIndexes: ['gsi1', 'gsi2'].map((name) => ({ IndexName: `${name}`, KeySchema: schema(`${name}pk`, `${name}sk`), Projection: { ProjectionType: 'ALL' } }))
  }))
})

const ann = { id: 'ann', office: 'bonn', team: 'red', name: 'Ann', salary: 20, skills: ['go', 'js'], address: { city: 'bonn', zip: 1 }, history: ['a'], kind: 'full' }

test('put and get', async () => {
  await Employee.put(ann).go()
  const { data } = await Employee.get({ id: 'ann' }).go()
  assert.deepEqual({ ...data, skills: [...data.skills].sort() }, ann)
})

test('an item that is not there', async () => {
  assert.equal((await Employee.get({ id: 'nobody' }).go()).data, null)
})

test('create refuses what exists', async () => {
  await Employee.create({ id: 'bob', office: 'bonn', team: 'blue' }).go()
  await assert.rejects(Employee.create({ id: 'bob', office: 'bonn', team: 'blue' }).go(), /The conditional request failed/)
})

test('create on a condition', async () => {
  await assert.rejects(Employee.put({ ...ann, salary: 1 }).where(({ salary }, { gt }) => gt(salary, 100)).go(), /The conditional request failed/)
})

test('patch and update', async () => {
  const { data } = await Employee.patch({ id: 'ann' }).set({ salary: 30 }).add({ seen: 2 }).append({ history: ['b'] }).remove(['kind']).go({ response: 'all_new' })
  assert.equal(data.salary, 30)
  assert.equal(data.seen, 2)
  assert.deepEqual(data.history, ['a', 'b'])
  assert.equal(data.kind, undefined)
})

test('patch refuses what does not exist', async () => {
  await assert.rejects(Employee.patch({ id: 'nobody' }).set({ salary: 1 }).go(), /The conditional request failed/)
})

test('update of sets, maps and numbers', async () => {
  await Employee.update({ id: 'ann' }).delete({ skills: ['js'] }).go()
  await Employee.update({ id: 'ann' }).add({ skills: ['rust'] }).go()
  const { data } = await Employee.update({ id: 'ann' }).data((a, o) => { o.set(a.address.city, 'ulm'); o.subtract(a.salary, 5); o.ifNotExists(a.seen, 9) }).go({ response: 'all_new' })
  assert.deepEqual([...data.skills].sort(), ['go', 'rust'])
  assert.deepEqual([data.address.city, data.salary, data.seen], ['ulm', 25, 2])
})

test('upsert', async () => {
  await Employee.upsert({ id: 'cat', office: 'ulm', team: 'red', salary: 1 }).go()
  await Employee.upsert({ id: 'cat', office: 'ulm', team: 'red', salary: 2 }).go()
  assert.equal((await Employee.get({ id: 'cat' }).go()).data.salary, 2)
})

test('delete and remove', async () => {
  await Employee.delete({ id: 'cat' }).go()
  await assert.rejects(Employee.remove({ id: 'cat' }).go(), /The conditional request failed/)
})

test('batches put', async () => {
  const people = Array.from({ length: 60 }, (_, i) => ({ id: `p${String(i).padStart(2, '0')}`, office: i % 2 ? 'bonn' : 'ulm', team: i % 3 ? 'red' : 'blue', salary: i }))
  assert.deepEqual((await Employee.put(people).go({ concurrency: 2 })).unprocessed, [])
  const tasks = Array.from({ length: 40 }, (_, i) => ({ task: `t${i}`, project: `x${i % 4}`, id: `p0${i % 5}`, office: 'bonn', points: i }))
  assert.deepEqual((await Task.put(tasks).go()).unprocessed, [])
})

test('batches get', async () => {
  const ids = Array.from({ length: 120 }, (_, i) => ({ id: `p${String(i).padStart(2, '0')}` }))
  const { data, unprocessed } = await Employee.get(ids).go({ concurrency: 2, preserveBatchOrder: true })
  assert.equal(data.filter(Boolean).length, 60)
  assert.equal(data[7].salary, 7)
  assert.equal(data[119], null)
  assert.deepEqual(unprocessed, [])
})

test('batches delete', async () => {
  await Employee.delete([{ id: 'p58' }, { id: 'p59' }]).go()
  assert.equal((await Employee.get({ id: 'p58' }).go()).data, null)
})

test('query an index', async () => {
  const { data } = await Employee.query.byOffice({ office: 'ulm', team: 'blue' }).go({ pages: 'all' })
  assert.deepEqual(data.map((one) => one.salary), [0, 6, 12, 18, 24, 30, 36, 42, 48, 54])
})

for (const [name, range, want] of [
  ['begins', (q) => q.begins({ id: 'p1' }), 2], ['between', (q) => q.between({ id: 'p12' }, { id: 'p30' }), 4],
  ['gt', (q) => q.gt({ id: 'p30' }), 23], ['gte', (q) => q.gte({ id: 'p30' }), 24], ['lt', (q) => q.lt({ id: 'p12' }), 2], ['lte', (q) => q.lte({ id: 'p12' }), 3]
]) {
  test(`query a range with ${name}`, async () => {
    assert.equal((await range(Employee.query.byOffice({ office: 'ulm', team: 'blue' })).go()).data.length, want)
  })
}

test('query with a filter', async () => {
  const { data } = await Employee.query.byOffice({ office: 'ulm' }).where(({ salary, name }, { between, notExists }) => `${between(salary, 10, 20)} AND ${notExists(name)}`).go()
  assert.deepEqual(data.map((one) => one.salary).sort(), [10, 12, 14, 16, 18, 20])
})

test('query page by page', async () => {
  const seen = []
  let cursor = null
  do {
    const page = await Employee.query.byOffice({ office: 'ulm' }).go({ cursor, limit: 7, order: 'desc' })
    seen.push(...page.data.map((one) => one.id))
    cursor = page.cursor
  } while (cursor !== null)
  assert.equal(new Set(seen).size, 29)
  assert.equal(seen.length, 29)
})

test('query with count', async () => {
  const first = await Employee.query.byOffice({ office: 'ulm' }).go({ count: 5 })
  const second = await Employee.query.byOffice({ office: 'ulm' }).go({ count: 50, cursor: first.cursor })
  assert.deepEqual([first.data.length, second.data.length], [5, 24])
})

test('query some attributes', async () => {
  const { data } = await Employee.query.byOffice({ office: 'ulm', team: 'blue' }).go({ attributes: ['id'], limit: 1 })
  assert.deepEqual(data, [{ id: 'p00' }])
})

test('hydrate an index', async () => {
  const { data } = await Employee.query.byOffice({ office: 'ulm', team: 'blue' }).go({ hydrate: true, limit: 3 })
  assert.deepEqual(data.map((one) => one.salary), [0, 6, 12])
})

test('match', async () => {
  assert.equal((await Employee.match({ office: 'ulm', salary: 14 }).go()).data.length, 1)
})

test('scan', async () => {
  assert.equal((await Employee.scan.go({ pages: 'all' })).data.length, 60)
  assert.equal((await Task.scan.where(({ points }, { lt }) => lt(points, 10)).go({ pages: 'all' })).data.length, 10)
})

test('a collection', async () => {
  const { data } = await service.collections.assignments({ id: 'p03' }).go()
  assert.deepEqual(data.employee.map((one) => one.id), ['p03'])
  assert.deepEqual(data.task.map((one) => one.points).sort((a, b) => a - b), [3, 8, 13, 18, 23, 28, 33, 38])
})

test('a collection of an office, with a filter', async () => {
  const { data } = await service.collections.workplace({ office: 'bonn' }).where(({ id }, { eq }) => eq(id, 'p01')).go({ pages: 'all' })
  assert.equal(data.employee.length, 1)
  assert.equal(data.task.length, 8)
})

test('a collection page by page', async () => {
  let cursor = null
  let employees = 0, tasks = 0
  do {
    const page = await service.collections.workplace({ office: 'bonn' }).go({ cursor, limit: 11 })
    employees += page.data.employee.length
    tasks += page.data.task.length
    cursor = page.cursor
  } while (cursor !== null)
  assert.deepEqual([employees, tasks], [31, 40])
})

test('a transaction writes all of it', async () => {
  const { canceled, data } = await service.transaction.write(({ employee, task }) => [
    employee.patch({ id: 'p01' }).set({ salary: 99 }).commit(),
    task.put({ task: 'new', project: 'x9', id: 'p01' }).commit(),
    task.delete({ task: 't0', project: 'x0' }).commit(),
    employee.check({ id: 'p02' }).where(({ salary }, { eq }) => eq(salary, 2)).commit()
  ]).go()
  assert.equal(canceled, false)
  assert.equal(data.length, 4)
  assert.equal((await Employee.get({ id: 'p01' }).go()).data.salary, 99)
})

test('a transaction writes nothing of it', async () => {
  const { canceled, data } = await service.transaction.write(({ employee, task }) => [
    task.put({ task: 'other', project: 'x9', id: 'p01' }).commit(),
    employee.create({ id: 'p01', office: 'bonn', team: 'red' }).commit({ response: 'all_old' })
  ]).go()
  assert.equal(canceled, true)
  assert.deepEqual(data.map((one) => one.code), ['None', 'ConditionalCheckFailed'])
  assert.equal(data[1].item.salary, 99)
  assert.equal((await Task.get({ task: 'other', project: 'x9' }).go()).data, null)
})

test('a transaction reads', async () => {
  const { data } = await service.transaction.get(({ employee, task }) => [
    employee.get({ id: 'p01' }).commit(), task.get({ task: 'new', project: 'x9' }).commit(), task.get({ task: 't0', project: 'x0' }).commit()
  ]).go()
  assert.deepEqual([data[0].item.salary, data[1].item.status, data[2].item], [99, 'open', null])
})

test('conversions of keys and cursors', async () => {
  const conversions = createConversions(Employee)
  const keys = conversions.fromComposite.toKeys({ id: 'p01', office: 'bonn', team: 'red' })
  assert.equal(conversions.fromKeys.toComposite(keys).id, 'p01')
})
