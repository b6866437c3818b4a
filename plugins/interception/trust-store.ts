// Installs the CA certificate for the system: on Linux, with the right to do it. Otherwise the command is returned. No password is asked.
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Authority } from './authority.ts'
import type { InterceptionOptions } from './options.ts'

export interface TrustStore {
  /** The installed file; null: this system has no folder for it. */
  readonly file: string | null
  installed(ca: Authority | null): boolean
  /** Returns null, or the command that does it. */
  install(ca: Authority): Promise<string | null>
  uninstall(ca: Authority | null): Promise<string | null>
}

const DEBIAN = { folder: '/usr/local/share/ca-certificates', update: ['update-ca-certificates'] }
const NAME = 'hookgate-interception.crt'
const UPDATE_MS = 30_000

export function trustStore(given: InterceptionOptions['trustStore']): TrustStore {
  const store = given ?? (process.platform === 'linux' ? DEBIAN : null)
  if (store === null) return manual(process.platform)
  const file = join(store.folder, NAME)
  const update = async (): Promise<boolean> => {
    const [program = '', ...args] = store.update
    return new Promise((resolve) => execFile(program, args, { timeout: UPDATE_MS }, (error) => resolve(error === null)))
  }
  const shown = store.update.join(' ')
  return {
    file,
    installed: (ca) => ca !== null && read(file) === ca.pem,
    async install(ca) {
      const command = `sudo cp ${ca.path} ${file} && sudo ${shown}`
      try {
        writeFileSync(file, ca.pem, { mode: 0o644 })
      } catch {
        return command
      }
      return (await update()) ? null : `sudo ${shown}`
    },
    async uninstall() {
      if (read(file) === null) return null
      try {
        rmSync(file, { force: true })
      } catch {
        return `sudo rm ${file} && sudo ${shown}`
      }
      return (await update()) ? null : `sudo ${shown}`
    },
  }
}

/** These systems ask for a password in a window. */
function manual(platform: string): TrustStore {
  const commands = (ca: Authority | null): [string, string] => {
    const { path = 'ca.pem', fingerprint = '' } = ca ?? {}
    if (platform === 'win32') return [`certutil -addstore -user Root "${path}"`, `certutil -delstore -user Root ${fingerprint}`]
    if (platform !== 'darwin') return [`Trust ${path} as your system does it.`, `Remove ${path} from your system's certificates.`]
    return [
      `sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain "${path}"`,
      `sudo security remove-trusted-cert -d "${path}"`,
    ]
  }
  return {
    file: null,
    installed: () => false,
    install: async (ca) => commands(ca)[0],
    uninstall: async (ca) => commands(ca)[1],
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
