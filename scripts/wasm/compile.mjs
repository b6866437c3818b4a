import { readFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'

const SOURCE = new URL('./json-scan.ts', import.meta.url)
const OPTIONS = ['-O3', '--runtime', 'stub', '--noAssert', '--enable', 'simd', '--initialMemory', '2', '--maximumMemory', '2']

/** Returns the bytes of the module. @throws Error with the compiler's messages. */
export async function compiled() {
  let bytes
  const { error, stderr } = await asc.main(['json-scan.ts', ...OPTIONS, '--outFile', 'json-scan.wasm'], {
    readFile: (name) => (name === 'json-scan.ts' ? readFileSync(SOURCE, 'utf8') : null),
    writeFile: (_name, contents) => {
      bytes = contents
    },
    listFiles: () => [],
  })
  if (error !== null) throw new Error(stderr.toString(), { cause: error })
  return bytes
}

/** Returns the text of core/json/wasm-module.ts. */
export function generated(bytes) {
  return [
    '// Generated from scripts/wasm/json-scan.ts by `npm run gen:wasm`.',
    '/** A module of WebAssembly in base64. */',
    `export const WASM_MODULE =\n  '${Buffer.from(bytes).toString('base64')}'`,
    '',
  ].join('\n')
}
