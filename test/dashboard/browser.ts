// A real Chromium for tests of the dashboard: one for each worker of the run, a fresh context for each page. Every page fails on a violation of the
// content security policy, an error in the console, a request to another origin, an answer above 499, a secret in an address that it asks for
// or shows, and what it leaves behind besides the session and the preferences (leaks.ts).
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { leftBehind, secretIn } from './leaks.ts'

/** The same Chromium; the build without windows of its own needs half the CPU time in its main process. */
const NAMES = ['chromium-headless-shell', 'chromium']

/** Path of the browser; null where none is installed. */
export const BROWSER: string | null = findBrowser()

if (BROWSER === null && process.env.REQUIRE_BROWSER === '1')
  throw new Error(`REQUIRE_BROWSER=1, and PATH has none of ${NAMES.join(', ')}.`)

function findBrowser(): string | null {
  const given = process.env.CHROMIUM_PATH
  if (given) return given
  for (const name of NAMES)
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name)
      try {
        accessSync(path, constants.X_OK)
        return path
      } catch {
        // The next folder may have it.
      }
    }
  return null
}

/**
 * Features of the browser's own window, which is never seen: each window would start processes of its own that draw the address bar. The
 * browser obeys the last list that it is given, so what playwright-core switches off stands here as well.
 */
const WITHOUT = [
  ...['SpareRendererForSitePerProcess', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...[
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsUpgrades',
    'HttpsFirstBalancedModeAutoEnable',
  ],
  ...['LensOverlay', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['TcpPortRandomizationWin', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
]

const ARGUMENTS = [
  // A document of the gateway leaves the process of the blank tab that it is opened in, and to start another takes most of the time.
  '--renderer-process-limit=1',
  // Else what was on the page before changes how an edge is smoothed, and no two pictures are equal.
  '--disable-partial-raster',
  `--disable-features=${WITHOUT.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let running: Promise<Browser> | null = null

/** Files of a worker share it, and it ends with the worker. */
function browser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath: BROWSER as string, args: ARGUMENTS })
  return running
}

export interface PageOptions {
  width?: number
  /** Default: that of a screen of this width. */
  height?: number
  theme?: 'light' | 'dark'
  /** IANA name. */
  zone?: string
  /** Problems that the test causes on purpose. */
  expected?: RegExp
  /** Default: true. */
  javaScript?: boolean
  /** The time of the pages, which stands still. */
  now?: number
}

export interface TestPage {
  readonly page: Page
  /** Opens a path in another tab of the same browser, with the same checks. */
  tab(path: string): Promise<Page>
  /** Checks that nothing went wrong so far, for tests that share the page. */
  check(): Promise<void>
  /** Checks that nothing went wrong on the page, and closes it. */
  close(): Promise<void>
}

/** Opens a path of a listening gateway in a fresh context. */
export async function openPage(origin: string, path: string, options: PageOptions = {}): Promise<TestPage> {
  const {
    width = 1280,
    height = width < 500 ? 780 : 860,
    theme = 'light',
    zone = 'UTC',
    expected,
    javaScript = true,
    now,
  } = options
  const context = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: zone,
    javaScriptEnabled: javaScript,
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  if (now !== undefined) await context.clock.setFixedTime(now)
  const problems: string[] = []
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`violation of ${violatedDirective} by ${blockedURI}`),
    )
  })
  const tab = async (path: string): Promise<Page> => {
    const page = await context.newPage()
    // A letter's link has a token, which the page erases.
    const check = (address: string): void => {
      const found = address === origin + path ? null : secretIn(address)
      if (found !== null) problems.push(`a secret in the address ${found}`)
    }
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('framenavigated', (frame) => check(frame.url()))
    page.on('request', (request) => {
      check(request.url())
      if (!request.url().startsWith(origin) && !request.url().startsWith('blob:')) problems.push(`a request to ${request.url()}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 500) problems.push(`${response.status()} from ${response.url()}`)
    })
    await page.goto(origin + path)
    if (javaScript) await page.locator('h1').first().waitFor()
    return page
  }
  const wrong = async (): Promise<string[]> => {
    if (javaScript) for (const page of context.pages()) problems.push(...(await leftBehind(page)))
    return problems.splice(0).filter((problem) => expected?.test(problem) !== true)
  }
  return {
    page: await tab(path),
    tab,
    async check() {
      expect(await wrong()).toEqual([])
    },
    async close() {
      const found = await wrong()
      await context.close()
      expect(found).toEqual([])
    },
  }
}

/** Goes to a path as a link of the page does: without a new document, which would take most of the time. */
export async function visit(page: Page, path: string): Promise<void> {
  const titled = await page.evaluate(async (to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    return document.querySelector('h1')?.checkVisibility() === true
  }, path)
  if (!titled) await page.locator('h1').first().waitFor()
}
