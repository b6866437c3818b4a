// Finds model servers of this computer on their usual ports.
import { request } from 'undici/index.js'
import type { Vendor } from './trial.ts'

const PATIENCE_MS = 400

export interface LocalServer {
  readonly vendor: Vendor
  readonly models: number
}

/** Asks each registered loopback address for its models. Two vendors with one port are one server: the first is named. */
export async function localServers(vendors: readonly Vendor[]): Promise<LocalServer[]> {
  const local = new Map<string, Vendor>()
  for (const vendor of vendors)
    if (vendor.base_url !== null && isLoopback(vendor.base_url) && !local.has(vendor.base_url)) local.set(vendor.base_url, vendor)
  const found = await Promise.all(
    [...local].map(async ([baseUrl, vendor]) => {
      const models = await modelsAt(baseUrl)
      return models === null ? [] : [{ vendor, models }]
    }),
  )
  return found.flat()
}

function isLoopback(address: string): boolean {
  return /^(127\.|localhost$)/.test(new URL(address).hostname)
}

/** Returns null when no model server answers there. */
async function modelsAt(baseUrl: string): Promise<number | null> {
  try {
    const { statusCode, body } = await request(`${baseUrl}/models`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const answer = (await body.json()) as { data?: unknown }
    return statusCode === 200 && Array.isArray(answer.data) ? answer.data.length : null
  } catch {
    return null
  }
}
