// Compiles scripts/wasm/json-scan.ts into core/json/wasm-module.ts.
//
//   npm run gen:wasm
import { writeFileSync } from 'node:fs'
import { compiled, generated } from './wasm/compile.mjs'

writeFileSync(new URL('../core/json/wasm-module.ts', import.meta.url), generated(await compiled()))
console.log('core/json/wasm-module.ts is up to date.')
