// Joins modules of this build that the package does not have into one file each, for the lane's own tests.
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const DIST = resolve(import.meta.dirname, '../../dist')
const TOOLS = {
  'contract-tools.mjs': [
    ['dialectContract', 'adapters/testing/contracts/dialect-contract.js'],
    ['chatReplies', 'adapters/testing/replies/chat.js'],
    ['generateContentReplies', 'adapters/testing/replies/generate-content.js'],
    ['messagesReplies', 'adapters/testing/replies/messages.js'],
    ['responsesReplies', 'adapters/testing/replies/responses.js'],
  ],
  'server-tools.mjs': [
    ['databaseContract', 'adapters/testing/contracts/database-contract.js'],
    ['hashPassword, passwordCheck', 'plugins/sign-in/password.js'],
  ],
}

/** Writes the files into `folder`. Packages are resolved from there. */
export async function writeTools(folder) {
  for (const [file, exports] of Object.entries(TOOLS)) {
    const code = exports.map(([names, path]) => `export { ${names} } from ${JSON.stringify(join(DIST, path))}`).join('\n')
    const entry = {
      name: 'entry',
      resolveId: (id) => (id === file ? id : null),
      load: (id) => (id === file ? code : null),
    }
    const bundle = await rolldown({ input: file, external: /^[^./]/, platform: 'neutral', plugins: [entry] })
    await bundle.write({ file: join(folder, file), format: 'esm' })
    await bundle.close()
  }
}
