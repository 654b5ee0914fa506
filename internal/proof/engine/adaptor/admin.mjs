// What dynamodb-admin shows and does, asked of its own server as its page asks.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'

let admin, base

before(async () => {
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  base = `http://127.0.0.1:${port}`
  const program = `${process.env.MODULES}/dynamodb-admin/dist/dynamodb-admin.js`
  admin = spawn('node', [program, '--host', '127.0.0.1', '--port', port, '--dynamo-endpoint', process.env.AWS_ENDPOINT_URL], { stdio: 'ignore' })
  for (let tries = 0; ; tries++) {
    try {
      return await fetch(base)
    } catch (err) {
      if (tries > 600) throw err
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
})

after(() => admin.kill())

async function ask (method, path, body) {
  const answer = await fetch(base + path, {
    method,
    body: body && JSON.stringify(body),
    headers: body ? { 'content-type': 'application/json' } : {}
  })
  const text = await answer.text()
  return { status: answer.status, text, json: () => JSON.parse(text) }
}

async function ok (method, path, body) {
  const answer = await ask(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer
}

const items = async (table, query) => (await ok('GET', `/tables/${table}/items?${new URLSearchParams(query)}`)).json()
const filters = (of) => JSON.stringify(of)

test('there are no tables at first', async () => {
  assert.deepEqual((await ok('GET', '/api/tables')).json(), [])
})

test('the pages of no tables and of a new one', async () => {
  assert.match((await ok('GET', '/')).text, /<html/)
  assert.match((await ok('GET', '/create-table')).text, /Create table/i)
})

test('create a table', async () => {
  const created = await ok('POST', '/create-table', {
    TableDefinition: { TableName: 'plain', HashAttributeName: 'id', HashAttributeType: 'S', ReadCapacityUnits: 3, WriteCapacityUnits: 3 }
  })
  assert.equal(created.status, 204)
})

test('create a table with global and local indexes', async () => {
  const units = { ReadCapacityUnits: 3, WriteCapacityUnits: 3 }
  await ok('POST', '/create-table', {
    TableDefinition: { TableName: 'orders', HashAttributeName: 'customer', HashAttributeType: 'S', RangeAttributeName: 'number', RangeAttributeType: 'N', ...units },
    SecondaryIndexes: [
      { IndexName: 'byStatus', IndexType: 'global', HashAttributeName: 'status', HashAttributeType: 'S', RangeAttributeName: 'date', RangeAttributeType: 'S', ...units },
      { IndexName: 'byCity', IndexType: 'global', HashAttributeName: 'city', HashAttributeType: 'S', ...units },
      { IndexName: 'byDate', IndexType: 'local', HashAttributeName: 'customer', HashAttributeType: 'S', RangeAttributeName: 'date', RangeAttributeType: 'S' }
    ]
  })
  const table = (await ok('GET', '/api/tables')).json().find((t) => t.TableName === 'orders')
  assert.deepEqual(table.GlobalSecondaryIndexes.map((index) => index.IndexName).sort(), ['byCity', 'byStatus'])
  assert.deepEqual(table.LocalSecondaryIndexes.map((index) => index.IndexName), ['byDate'])
  assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 3)
  assert.equal(table.TableStatus, 'ACTIVE')
})

test('a range attribute without a type is refused', async () => {
  const answer = await ask('POST', '/create-table', {
    TableDefinition: { TableName: 'wrong', HashAttributeName: 'id', HashAttributeType: 'S', RangeAttributeName: 'r', ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
  })
  assert.equal(answer.status, 400)
})

test('a table that exists is refused', async () => {
  const answer = await ask('POST', '/create-table', {
    TableDefinition: { TableName: 'plain', HashAttributeName: 'id', HashAttributeType: 'S', ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
  })
  assert.equal(answer.status, 500)
  assert.match(answer.json().message, /Table already exists/)
})

test('the page of all tables', async () => {
  const { text } = await ok('GET', '/')
  assert.match(text, /orders/)
  assert.match(text, /plain/)
})

test('the pages of a table', async () => {
  for (const page of ['', '/get', '/add-item', '/meta', '/ttl']) {
    assert.match((await ok('GET', `/tables/orders${page}`)).text, /orders/, page)
  }
})

const order = (i) => ({
  customer: `c${i % 3}`, number: i, status: i % 2 ? 'open' : 'done', city: `city${i % 4}`, date: `2026-11-${String(i % 28 + 1).padStart(2, '0')}`,
  lines: [{ sku: 'a', amount: i }], total: i * 1.5
})

for (let i = 0; i < 60; i++) {
  test(`add item ${i}`, async () => {
    const added = await ok('PUT', '/tables/orders/add-item', order(i))
    assert.deepEqual(added.json(), { customer: `c${i % 3}`, number: i })
  })
}

test('the page of an item', async () => {
  assert.match((await ok('GET', '/tables/orders/items/c1,7')).text, /city3/)
})

test('an item is found by its key', async () => {
  assert.match((await ok('GET', '/tables/orders/get?hash=c1&range=7')).text, /city3/)
})

test('an item that is not there', async () => {
  assert.equal((await ask('GET', '/tables/orders/items/c1,8')).status, 404)
})

test('change an item', async () => {
  const changed = await ok('PUT', '/tables/orders/items/c1,7', { ...order(7), status: 'paid', paid: true })
  assert.deepEqual(changed.json(), { ...order(7), status: 'paid', paid: true })
})

test('scan page by page', async () => {
  const seen = new Set()
  let startKey, pages = 0
  do {
    const page = await items('orders', { pageSize: 25, ...(startKey && { startKey }) })
    page.Items.forEach((item) => seen.add(item.number))
    startKey = page.nextKey && decodeURIComponent(page.nextKey)
    pages++
  } while (startKey && pages < 10)
  assert.equal(seen.size, 60)
  assert.equal(pages, 3)
})

test('scan with filters', async () => {
  const filter = filters({ status: { operator: '=', value: 'open', type: 'S' }, total: { operator: '>', value: '45', type: 'N' } })
  const page = await items('orders', { filters: filter, pageSize: 100 })
  assert.deepEqual(page.Items.map((item) => item.number).sort(), [31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59])
})

for (const [operator, value, want] of [['=', '30', 1], ['>=', '30', 10], ['<=', '30', 11], ['>', '30', 9], ['<', '30', 10]]) {
  test(`query the table with ${operator}`, async () => {
    const filter = filters({ customer: { operator: '=', value: 'c0', type: 'S' }, number: { operator, value, type: 'N' } })
    assert.equal((await items('orders', { filters: filter, operationType: 'query', pageSize: 100 })).Items.length, want)
  })
}

test('query a global index', async () => {
  const filter = filters({ city: { operator: '=', value: 'city1', type: 'S' } })
  const page = await items('orders', { filters: filter, operationType: 'query', queryableSelection: 'byCity', pageSize: 100 })
  assert.equal(page.Items.length, 15)
})

test('query a global index with begins_with', async () => {
  const filter = filters({ status: { operator: '=', value: 'done', type: 'S' }, date: { operator: 'begins_with', value: '2026-11-1', type: 'S' } })
  const page = await items('orders', { filters: filter, operationType: 'query', queryableSelection: 'byStatus', pageSize: 100 })
  assert.deepEqual(page.Items.map((item) => item.date).sort(), ['2026-11-11', '2026-11-11', '2026-11-13', '2026-11-13', '2026-11-15', '2026-11-15', '2026-11-17', '2026-11-17', '2026-11-19', '2026-11-19'])
})

test('query a global index page by page', async () => {
  const filter = filters({ status: { operator: '=', value: 'done', type: 'S' } })
  const numbers = []
  let startKey
  do {
    const page = await items('orders', { filters: filter, operationType: 'query', queryableSelection: 'byStatus', pageSize: 7, ...(startKey && { startKey }) })
    numbers.push(...page.Items.map((item) => item.number))
    startKey = page.nextKey && decodeURIComponent(page.nextKey)
  } while (startKey && numbers.length < 100)
  assert.equal(new Set(numbers).size, 30)
  assert.equal(numbers.length, 30)
})

test('a query with a filter on other attributes', async () => {
  const filter = filters({ customer: { operator: '=', value: 'c2', type: 'S' }, city: { operator: '<>', value: 'city0', type: 'S' } })
  assert.equal((await items('orders', { filters: filter, operationType: 'query', pageSize: 100 })).Items.length, 15)
})

test('a query without its partition key is refused', async () => {
  const filter = filters({ number: { operator: '=', value: '1', type: 'N' } })
  const answer = await ask('GET', `/tables/orders/items?${new URLSearchParams({ filters: filter, operationType: 'query' })}`)
  assert.equal(answer.status, 500)
  assert.match(answer.json().message, /Query condition missed key schema element: customer/)
})

test('an item of a key of another type is refused', async () => {
  const answer = await ask('PUT', '/tables/orders/add-item', { customer: 'c1', number: 'x' })
  assert.equal(answer.status, 500)
  assert.match(answer.json().message, /Type mismatch for key/)
})

test('delete an item', async () => {
  assert.equal((await ok('DELETE', '/tables/orders/items/c1,7')).status, 204)
  assert.equal((await ask('GET', '/tables/orders/items/c1,7')).status, 404)
})

test('purge a table', async () => {
  await ok('DELETE', '/tables/orders/all')
  assert.deepEqual((await items('orders', {})).Items, [])
})

test('purge all tables', async () => {
  await ok('PUT', '/tables/plain/add-item', { id: 'a' })
  await ok('DELETE', '/tables-purge')
  assert.deepEqual((await items('plain', {})).Items, [])
})

test('delete a table', async () => {
  assert.equal((await ok('DELETE', '/tables/plain')).status, 204)
  assert.deepEqual((await ok('GET', '/api/tables')).json().map((table) => table.TableName), ['orders'])
})

test('delete all tables', async () => {
  await ok('DELETE', '/tables')
  assert.deepEqual((await ok('GET', '/api/tables')).json(), [])
})
