// GATEWAY_PLUGIN_PATH: a file, several files separated by the platform's path delimiter, or a folder, whose *.wasm are sorted by name.
// Filters run in this order.
import { readdir, readFile, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export interface FilterFile {
  readonly file: string
  readonly module: Uint8Array
}

/** @throws Error naming the unreadable path. */
export async function readFilterFiles(path: string): Promise<FilterFile[]> {
  const files: FilterFile[] = []
  for (const place of path.split(delimiter).filter((one) => one !== ''))
    for (const file of await filesAt(place)) files.push({ file, module: await readFile(file).catch(unreadable(file)) })
  if (files.length === 0) throw new Error(`GATEWAY_PLUGIN_PATH: there is no *.wasm in ${path}.`)
  return files
}

async function filesAt(place: string): Promise<string[]> {
  const found = await stat(place).catch(unreadable(place))
  if (!found.isDirectory()) return [place]
  const names = await readdir(place).catch(unreadable(place))
  return names
    .filter((name) => name.endsWith('.wasm'))
    .sort()
    .map((name) => join(place, name))
}

function unreadable(path: string) {
  return (error: NodeJS.ErrnoException): never => {
    throw new Error(`GATEWAY_PLUGIN_PATH: ${path} cannot be read (${error.code ?? error.message}).`)
  }
}
