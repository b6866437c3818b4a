// Our lines in the hosts file: a marked block, which is removed when the proxy stops.
import { readFileSync, writeFileSync } from 'node:fs'

const BEGIN = '# hookgate begin: removed when the interception proxy stops'
const END = '# hookgate end'
const BLOCK = /^# hookgate begin.*\n(?:(?!# hookgate end).*\n)*# hookgate end(?:\n|$)/gm

export function defaultHostsFile(): string {
  return process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
}

/** Returns the hosts that the file maps to this machine, with or without our block. */
export function mappedHosts(path: string): ReadonlySet<string> {
  const lines = text(path)
    .split('\n')
    .map((line) => (line.split('#', 1)[0] as string).trim().split(/\s+/))
  return new Set(lines.flatMap(([address = '', ...names]) => (address === '127.0.0.1' || address === '::1' ? names : [])))
}

/** Replaces our block; without hosts it is removed. Returns null, or without the right to write the command that does it. */
export function writeHosts(path: string, hosts: readonly string[]): string | null {
  const before = text(path)
  const rest = before.replace(BLOCK, '')
  const block = [BEGIN, ...hosts.map((host) => `127.0.0.1 ${host}`), END, ''].join('\n')
  const after = hosts.length === 0 ? rest : `${rest}${rest === '' || rest.endsWith('\n') ? '' : '\n'}${block}`
  if (after === before) return null
  try {
    // In place: another tool may follow the file, and its owner and mode stay.
    writeFileSync(path, after)
    return null
  } catch {
    return commandOf(path, hosts)
  }
}

function commandOf(path: string, hosts: readonly string[]): string {
  const remove = `sudo sed -i.hookgate '/^# hookgate begin/,/^# hookgate end/d' ${quoted(path)}`
  if (hosts.length === 0) return remove
  const lines = [BEGIN, ...hosts.map((host) => `127.0.0.1 ${host}`), END].map(quoted).join(' ')
  return `${remove} && printf '%s\\n' ${lines} | sudo tee -a ${quoted(path)}`
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function quoted(value: string): string {
  return /^[\w./:-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
