// Preloaded into the gateway's process: reports on request what the process holds after garbage collection.
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

process.on('message', async () => {
  const loopP99Ms = delay.percentile(99) / 1e6
  // Finalizers and weak references release their objects one collection later.
  globalThis.gc()
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc()
  const { rss, heapUsed, external } = process.memoryUsage()
  const resources = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  // The pause of the collection itself is not counted as a stall.
  setTimeout(() => delay.reset(), 20)
  process.send({ rss, heapUsed, external, fds: readdirSync('/proc/self/fd').length, resources, loopP99Ms })
})
// The channel alone must not keep a stopping gateway alive.
process.channel.unref()
