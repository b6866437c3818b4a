// Reads the ledger's tables directly from SQLite or PostgreSQL.

export async function openBooks(place) {
  const query = /^postgres/.test(place) ? await postgres(place) : await sqlite(place)
  return {
    /** Returns rows of the cycle whose markers have this prefix. */
    rows: (prefix) =>
      query.all(`SELECT user_id, output_tokens, cost_nano, interrupted FROM ledger_usage WHERE user_id LIKE '${prefix}%'`),
    totals: () => query.all('SELECT key_id, SUM(charge_nano) AS nano FROM ledger_usage GROUP BY key_id'),
    accounts: () => query.all('SELECT account, spent_nano, reserved_nano FROM ledger_accounts'),
    whole: query.whole,
    close: query.close,
  }
}

async function sqlite(path) {
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(path, { readonly: true })
  return {
    all: async (text) => db.prepare(text).all(),
    whole: async () => db.pragma('integrity_check', { simple: true }) === 'ok',
    close: async () => db.close(),
  }
}

async function postgres(url) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const numbers = (row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        /_nano$|^nano$|tokens$|_id$|interrupted/.test(name) && name !== 'user_id' ? Number(value) : value,
      ]),
    )
  return {
    all: async (text) => (await client.query(text)).rows.map(numbers),
    whole: async () => true,
    close: () => client.end(),
  }
}
