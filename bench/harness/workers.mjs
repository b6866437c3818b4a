// The worker processes of a serving gateway.
import { readFileSync } from 'node:fs'

/** Returns the ids of the processes that this one started. Linux only. */
export function workersOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Resolves when so many workers serve the address. */
export async function untilWorkers(url, count) {
  for (let tries = 0; tries < 1200; tries++) {
    const text = await fetch(`${url}/metrics`).then(
      (response) => response.text(),
      () => '',
    )
    if (/^gateway_workers (\d+)$/m.exec(text)?.[1] === String(count)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`There are not ${count} workers after a minute.`)
}
