// Given to mocha by --require: the server that dynalite's own tests start is a relay to the engine at ENGINE, "host:port".
const Module = require('module')
const net = require('net')
const path = require('path')

const load = Module._load
Module._load = function (request, parent, isMain) {
  const loaded = load.call(this, request, parent, isMain)
  const main = request === '..' && Module._resolveFilename(request, parent) === path.join(process.cwd(), 'index.js')
  return main ? (options) => options?.ssl ? loaded(options) : relay() : loaded
}

function relay () {
  const [host, port] = process.env.ENGINE.split(':')
  const clients = new Set()
  const server = net.createServer((client) => {
    const engine = net.connect(Number(port), host)
    clients.add(client.on('close', () => clients.delete(client)))
    client.on('error', () => engine.destroy())
    engine.on('error', () => client.destroy())
    client.pipe(engine).pipe(client)
  })
  const close = server.close
  server.close = (done) => {
    close.call(server, done)
    clients.forEach((client) => client.destroy())
  }
  return server
}

// A test that asks several things fails at the first answer that differs. Those that come later would fail whatever test runs by then,
// or end the whole run, so they count for the test that asked.
const { AsyncLocalStorage } = require('async_hooks')
const lib = path.join(process.cwd(), 'node_modules', 'mocha', 'lib')
const runner = require(path.join(lib, 'runner.js')).prototype
const runnable = require(path.join(lib, 'runnable.js')).prototype
const asking = new AsyncLocalStorage()
const { run } = runnable
runnable.run = function (done) {
  asking.run(this, () => run.call(this, done))
}
const uncaught = runner._uncaught
runner._uncaught = function (err) {
  const asked = asking.getStore() ?? this.currentRunnable
  if (asked === this.currentRunnable && !asked?.isPassed()) uncaught.call(this, err)
}
