// Reads a built dashboard into memory. Only files that the build's manifest names are served, so no path can lead out of the folder.
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

export interface Asset {
  readonly type: string
  readonly plain: Uint8Array<ArrayBuffer>
  readonly br?: Uint8Array<ArrayBuffer>
  readonly gzip?: Uint8Array<ArrayBuffer>
}

export interface Assets {
  /** @param name as in the manifest: `assets/main-1a2b.js` */
  file(name: string): Asset | undefined
  /** Returns the page for a gateway that a host mounts under a path. */
  document(mount: string, pluginPages: boolean): string
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** The part of Vite's manifest that names files. */
const manifestSchema = z.record(
  z.string(),
  z.looseObject({
    file: z.string(),
    css: z.array(z.string()).optional(),
    assets: z.array(z.string()).optional(),
  }),
)

/** Beside the compiled plugin (`dist/plugins/dashboard`) and beside its source. */
const PACKAGED = ['../../../dashboard/dist', '../../dashboard/dist'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Returns null when no folder has a built dashboard. */
export async function readAssets(dir: string | undefined): Promise<Assets | null> {
  for (const folder of dir === undefined ? PACKAGED : [dir]) {
    const assets = await readFolder(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (assets !== null) return assets
  }
  return null
}

async function readFolder(folder: string): Promise<Assets> {
  const root = await realpath(folder)
  const manifest = manifestSchema.parse(JSON.parse(await readFile(join(root, '.vite', 'manifest.json'), 'utf8')))
  const html = await readFile(join(root, 'index.html'), 'utf8')
  const names = new Set(Object.values(manifest).flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets]))
  const files = new Map(await Promise.all([...names].map(async (name) => [name, await readAsset(root, name)] as const)))
  return {
    file: (name) => files.get(name),
    // The build's addresses are relative, and the document is served at paths of any depth.
    document: (mount, pluginPages) =>
      html
        .replaceAll('%MOUNT%', escaped(mount))
        .replaceAll('%PLUGIN_PAGES%', String(pluginPages))
        .replaceAll('"./assets/', `"${escaped(mount)}/assets/`),
  }
}

async function readAsset(root: string, name: string): Promise<Asset> {
  const path = await realpath(join(root, name))
  if (!path.startsWith(root + sep)) throw new Error(`The dashboard's file ${name} is outside of its folder.`)
  const [plain, br, gzip] = await Promise.all([bytesOf(path), compressed(`${path}.br`), compressed(`${path}.gz`)])
  return { type: TYPES[extname(name)] ?? 'application/octet-stream', plain, br, gzip }
}

async function compressed(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return bytesOf(path).catch(() => undefined)
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path))
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
