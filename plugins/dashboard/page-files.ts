// The files of plugins' own pages, read into memory. Only files that were found in a page's folder are served.
import { readdir, readFile, realpath } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PluginInfo } from '../../core/types/plugin/info.ts'
import type { PluginPage } from '../../core/types/plugin/page.ts'

export interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** By path below the prefix: `house-rules/board/app.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
}
const MAX_FILES = 200
const MAX_BYTES = 8 * 1024 * 1024

/** @throws Error naming the plugin, the page and what is wrong with its folder. */
export async function readPages(plugins: readonly PluginInfo[]): Promise<PageFiles> {
  const files = new Map<string, PageFile>()
  for (const { name, pages } of plugins)
    for (const page of pages) {
      try {
        for (const [path, file] of await readPage(page)) files.set(`${name}/${page.id}/${path}`, file)
      } catch (error) {
        throw new Error(`The page \`${page.id}\` of the plugin \`${name}\` cannot be served: ${(error as Error).message}`, {
          cause: error,
        })
      }
    }
  return files
}

async function readPage({ folder }: PluginPage): Promise<[string, PageFile][]> {
  const root = await realpath(typeof folder === 'string' ? folder : fileURLToPath(folder))
  const names = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep))
    .filter((parts) => parts.every((part) => !part.startsWith('.')) && extname(parts.at(-1) as string) in TYPES)
  if (names.length > MAX_FILES) throw new Error(`its folder has ${names.length} files; ${MAX_FILES} are allowed.`)
  if (!names.some((parts) => parts.join('/') === 'index.html')) throw new Error('its folder has no index.html.')
  let size = 0
  const files: [string, PageFile][] = []
  for (const parts of names) {
    const bytes = new Uint8Array(await readFile(join(root, ...parts)))
    size += bytes.length
    if (size > MAX_BYTES) throw new Error(`its files are larger than ${MAX_BYTES} bytes.`)
    files.push([parts.map(encodeURIComponent).join('/'), { type: TYPES[extname(parts.at(-1) as string)] as string, bytes }])
  }
  return files
}
