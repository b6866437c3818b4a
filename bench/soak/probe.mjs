// Loaded into the gateway's process before it: says, when it is asked, what the process holds once its garbage is gone.
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

process.on('message', async () => {
  const loopP99Ms = delay.percentile(99) / 1e6
  // What ends with a collection (finalizers, weak references) leaves what it held to the next one.
  globalThis.gc()
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc()
  const { rss, heapUsed, external } = process.memoryUsage()
  const resources = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  // The collection's own stall is nobody's fault.
  setTimeout(() => delay.reset(), 20)
  process.send({ rss, heapUsed, external, fds: readdirSync('/proc/self/fd').length, resources, loopP99Ms })
})
// The channel alone does not keep a gateway alive that was told to end.
process.channel.unref()
