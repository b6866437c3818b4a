// Secrets where none may stand: in the addresses that a page asks for or shows, in the storage of the browser, and in the document after the
// dialog that shows one is closed.
import type { Page } from 'playwright-core'

/** Session tokens, client keys, management tokens, signing secrets, keys of providers, and the passwords of these tests. */
const SECRET = /eyJ[\w-]{8,}\.[\w-]{8,}|\b(?:gw|gmt)_[\w-]{20,}|\bwhsec_[\w+/-]{12,}|\bsk-[\w-]{6,}|correct.horse.battery/
const NAMED = /[?&#](?:access_)?(?:token|password|secret|api_key)=[^&]/

/** Returns the address without its origin when a secret is in it; else null. */
export function secretIn(address: string): string | null {
  const { origin } = new URL(address)
  const rest = address.slice(origin === 'null' ? 0 : origin.length)
  return NAMED.test(rest) || SECRET.test(readable(rest)) ? rest : null
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns what a page leaves behind besides the session of its tab and the preferences of its reader. */
export async function leftBehind(page: Page): Promise<string[]> {
  const address = secretIn(page.url())
  const found = await page.evaluate(traces).catch(() => null)
  const { kept, preferences, shown } = found ?? { kept: [], preferences: '{}', shown: '' }
  const wrong = Object.keys(JSON.parse(preferences) as object).filter((name) => !PREFERENCES.includes(name))
  return [
    ...(address === null ? [] : [`a secret in the address ${address}`]),
    ...kept.filter((one) => !ALLOWED.includes(one)).map((one) => `${one} is stored`),
    ...wrong.map((name) => `the preference ${name} is stored`),
    ...(SECRET.test(preferences) ? ['a secret among the preferences'] : []),
    ...(SECRET.test(shown) ? [`a secret in the document: ${SECRET.exec(shown)?.[0]}`] : []),
  ]
}

const ALLOWED = ['sessionStorage session', 'localStorage preferences']
const PREFERENCES = ['theme', 'density', 'columns', 'zone', 'menu']

interface Traces {
  /** Kind and name of each. */
  readonly kept: readonly string[]
  readonly preferences: string
  /** The document, unless a dialog with a secret is open. */
  readonly shown: string
}

/** Runs in the page. Fails where the browser shows an error of its own instead. */
async function traces(): Promise<Traces> {
  const named = (kind: string, names: readonly (string | undefined)[]) => names.map((name) => `${kind} ${name}`)
  return {
    kept: [
      ...named('sessionStorage', Object.keys(sessionStorage)),
      ...named('localStorage', Object.keys(localStorage)),
      ...named('cookie', document.cookie === '' ? [] : [document.cookie]),
      ...named(
        'database',
        (await indexedDB.databases()).map(({ name }) => name),
      ),
      ...named('cache', await caches.keys()),
    ],
    preferences: localStorage.getItem('preferences') ?? '{}',
    shown: document.querySelector('[data-secret]') === null ? document.documentElement.outerHTML : '',
  }
}
