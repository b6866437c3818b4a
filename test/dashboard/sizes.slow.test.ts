// The compressed size of the first page, of each other page, and of all files.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
  css?: string[]
  assets?: string[]
}

const DIST = join(import.meta.dirname, '../../dashboard/dist')
const KIB = 1024

it('stays within the budgets of the dashboard', async () => {
  const manifest = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>
  const size = async (files: Iterable<string>): Promise<number> => {
    let sum = 0
    for (const file of files) sum += (await stat(join(DIST, `${file}.gz`))).size
    return sum
  }
  /** The files that a chunk needs before it runs. */
  const filesOf = (name: string, found = new Set<string>()): Set<string> => {
    const { file, imports = [], css = [] } = manifest[name] as Chunk
    if (found.has(file)) return found
    for (const one of [file, ...css]) found.add(one)
    for (const other of imports) filesOf(other, found)
    return found
  }
  const shell = filesOf('index.html')
  const pages = (manifest['index.html'] as Chunk).dynamicImports ?? []
  const overview = pages.find((name) => name.includes('overview')) as string
  const document = (await stat(join(DIST, 'index.html'))).size
  expect(document + (await size(new Set([...shell, ...filesOf(overview)])))).toBeLessThanOrEqual(45 * KIB)

  expect(pages.length).toBeGreaterThanOrEqual(9)
  for (const page of pages) {
    const own = [...filesOf(page)].filter((file) => !shell.has(file))
    expect(await size(own), page).toBeLessThanOrEqual(18 * KIB)
  }
  const all = new Set(Object.values(manifest).flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets]))
  expect(await size(all)).toBeLessThanOrEqual(200 * KIB)
})
