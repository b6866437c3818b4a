// A database of PostgreSQL for replicas of bench/growth.mjs, and a number for their keys in Redis. TEST_DATABASE_URL and TEST_REDIS_URL
// name other servers than the local ones.
import { randomBytes } from 'node:crypto'
import pg from 'pg'

const SERVER = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test'
const REDIS = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Returns the environment that all replicas have, and a function that drops the database. */
export async function replicaSite(count) {
  const name = `hookgate_growth_${process.pid}_${count}`
  await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await query(`CREATE DATABASE ${name}`)
  const url = new URL(SERVER)
  url.pathname = `/${name}`
  return {
    env: {
      GATEWAY_DATABASE_URL: url.toString(),
      GATEWAY_REDIS_URL: REDIS,
      GATEWAY_PROFILE: 'local',
      GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    },
    end: () => query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

async function query(text) {
  const client = new pg.Client({ connectionString: SERVER })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
