'use strict'
// dynalite, and the two parts of DynamoDB's API that a lock store needs and dynalite lacks.
// Usage: node server.js PORT [DIRECTORY]; without a directory it keeps its data in memory.

const http = require('http')
const db = require('dynalite/db')
const updates = require('dynalite/validations/updateItem')
const dynalite = require('dynalite')

// 1. ReturnValuesOnConditionCheckFailure of UpdateItem: the failure has the item, as it is.
updates.types.ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] }
const checkConditional = db.checkConditional
db.checkConditional = function (data, existing) {
  const failure = checkConditional(data, existing)
  if (failure && existing && data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD') {
    failure.body.Item = existing
  }
  return failure
}

// 2. UpdateTimeToLive: remembered, so that a second one is refused as DynamoDB refuses it. Nothing is ever deleted.
const cleaned = new Set()
function updateTimeToLive (body) {
  const table = body.TableName
  const wanted = body.TimeToLiveSpecification
  if (cleaned.has(table) === wanted.Enabled) {
    return [400, {
      __type: 'com.amazon.coral.validate#ValidationException',
      message: 'TimeToLive is already ' + (wanted.Enabled ? 'enabled' : 'disabled')
    }]
  }
  if (wanted.Enabled) cleaned.add(table)
  else cleaned.delete(table)
  return [200, { TimeToLiveSpecification: wanted }]
}

// dynalite throws, to nobody, what breaks the connection of a request that it reads.
process.on('uncaughtException', failure => {
  if (failure.code !== 'ECONNRESET') {
    console.error(failure)
    process.exit(1)
  }
})

const [port, directory] = process.argv.slice(2)
const inner = dynalite({ path: directory, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
const server = http.createServer((request, response) => {
  if (!/\.UpdateTimeToLive$/.test(request.headers['x-amz-target'] || '')) {
    inner.emit('request', request, response)
    return
  }
  let text = ''
  request.on('data', part => { text += part })
  request.on('end', () => {
    const [status, answer] = updateTimeToLive(JSON.parse(text))
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(answer))
  })
})
// A client whose connection is reused at the moment in which the server closes it sees a broken connection.
server.keepAliveTimeout = 0
server.listen(Number(port), '127.0.0.1')
