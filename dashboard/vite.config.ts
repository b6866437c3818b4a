// Builds the dashboard into dashboard/dist. The options follow from the page's content security policy: no inline scripts, no data: URLs.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Writes `.br` and `.gz` beside every text file, so that the gateway compresses nothing at run time. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const files = await readdir(join(dir, 'assets'))
      for (const file of files.filter((name) => /\.(?:js|css|svg)$/.test(name))) {
        const path = join(dir, 'assets', file)
        const bytes = await readFile(path)
        await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }))
        await writeFile(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
      }
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2023',
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8788', '/healthz': 'http://127.0.0.1:8788' } },
})
