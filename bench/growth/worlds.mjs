// Fills the worlds of bench/growth.mjs, through the API of a running gateway or in the database of a stopped one.
import Database from 'better-sqlite3'

const AT_ONCE = 16
const limits = { rate_limit_rpm: 1e9, rate_limit_tpm: 1e9 }

async function each(count, step, make) {
  let next = 0
  const worker = async () => {
    while (next < count) {
      const at = next++
      await make(at)
      if (at % 500 === 0) step(at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Returns the key that the load uses: one from the middle. */
export async function addKeys(api, count, step) {
  let key
  await each(count, step, async (at) => {
    const made = await api('POST', '/api/keys', { label: `app ${at}`, ...limits })
    if (at === count >> 1) key = made.key
  })
  return { key }
}

export async function addVirtualModels(api, count, step) {
  await each(count, step, (at) =>
    api('POST', '/api/virtual-models', { name: `virtual-${at}`, strategy: 'failover', targets: ['openai/mock'] }),
  )
  return { model: `virtual-${count >> 1}` }
}

/** A budget of the organization, and one for each of as many keys. The load uses one of the keys, so two budgets apply. */
export async function addBudgets(api, count, step) {
  let key
  await api('POST', '/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 1e6 })
  await each(count - 1, step, async (at) => {
    const made = await api('POST', '/api/keys', { label: `app ${at}`, ...limits })
    await api('POST', '/api/budgets', { scope: 'key', entity_id: made.id, window: 'daily', hard_limit_usd: 1e6 })
    if (at === count >> 1) key = made.key
  })
  return { key }
}

/** Copies the row of one request until there are enough. */
export function addRows(file, count) {
  const db = new Database(file)
  try {
    db.pragma('synchronous = OFF')
    for (const [table, id] of [
      ['ledger_usage', 'request_id'],
      ['request_log', 'request_id'],
    ]) {
      const columns = db
        .pragma(`table_info(${table})`)
        .map(({ name }) => name)
        .filter((name) => name !== 'id')
      // Ids keep the order of time, as those of the gateway do.
      const values = columns.map((name) =>
        name === id ? `'req_' || printf('%012d', n)` : ['at', 'created_at'].includes(name) ? `${name} - (${count} - n)` : name,
      )
      const insert = db.prepare(
        `WITH RECURSIVE numbers(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)
         INSERT INTO ${table} (${columns.join(', ')})
         SELECT ${values.join(', ')} FROM numbers, (SELECT * FROM ${table} ORDER BY ${id} DESC LIMIT 1)`,
      )
      for (let from = 0; from < count; from += 200_000) {
        insert.run(from, Math.min(from + 200_000, count))
        process.stderr.write(`\r${table}: ${Math.min(from + 200_000, count)} of ${count} rows `)
      }
      process.stderr.write('\n')
    }
  } finally {
    db.close()
  }
}
