// Opens an address in the browser and copies it, for `hookgate dev`. Each says why it could not.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '""'],
}

/** @throws Error when there is no program that opens an address. The program is not waited for. */
export async function openInBrowser(url: string): Promise<void> {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  await once(child, 'spawn')
  child.on('error', () => {})
  child.unref()
}

/** @throws Error when there is no program that copies a text, or when it failed. */
export async function copyToClipboard(text: string): Promise<void> {
  const { writeText } = await import('tinyclip')
  await writeText(text)
}

/** Returns whether it succeeded. A failure is reported with what to do instead. */
export async function attempted(act: () => Promise<void>, failed: (reason: string) => void): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    failed((error as Error).message)
    return false
  }
}
