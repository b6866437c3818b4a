// The programs that open a tunnel: how they are called, what they print, and whether they are there.
import { execFile } from 'node:child_process'
import type { Command } from './supervisor.ts'

export const PROVIDERS = ['cloudflare', 'tailscale'] as const
export type ProviderName = (typeof PROVIDERS)[number]

export interface TunnelProvider {
  readonly program: string
  /** Where to get the program. */
  readonly hint: string
  /** @param url the gateway's own address on this machine */
  command(url: string): Command
  urlIn(text: string): string | null
  check(): Promise<Availability>
}

export interface Availability {
  readonly available: boolean
  /** null: the provider has no accounts. */
  readonly loggedIn: boolean | null
}

const CHECK_MS = 5000

export const tunnelProviders: Readonly<Record<ProviderName, TunnelProvider>> = {
  cloudflare: {
    program: 'cloudflared',
    hint: 'Install cloudflared: https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/',
    command: (url) => ({
      program: 'cloudflared',
      // The certificate of `hookgate dev --https` is its own.
      args: ['tunnel', '--no-autoupdate', '--url', url, ...(url.startsWith('https:') ? ['--no-tls-verify'] : [])],
    }),
    urlIn: (text) => /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![\w.-])/.exec(text)?.[0] ?? null,
    check: async () => ({ available: (await output('cloudflared', ['--version'])) !== null, loggedIn: null }),
  },
  tailscale: {
    program: 'tailscale',
    hint: 'Install Tailscale: https://tailscale.com/download, then run `tailscale up`.',
    command: (url) => ({ program: 'tailscale', args: ['funnel', url.replace(/^https:/, 'https+insecure:')] }),
    urlIn: (text) => /https:\/\/[a-z0-9.-]+\.ts\.net(?::\d+)?/.exec(text)?.[0] ?? null,
    async check() {
      const text = await output('tailscale', ['status', '--json'])
      return { available: text !== null, loggedIn: text !== null && isRunning(text) }
    },
  },
}

/** Returns what a program prints, whatever its exit code; null: it is not installed. */
function output(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: CHECK_MS, maxBuffer: 16 << 20 }, (error, stdout) => {
      const { code } = (error ?? {}) as { code?: unknown }
      resolve(code === 'ENOENT' || code === 'EACCES' ? null : stdout)
    })
  })
}

function isRunning(text: string): boolean {
  try {
    return (JSON.parse(text) as { BackendState?: unknown }).BackendState === 'Running'
  } catch {
    return false
  }
}
