// `hookgate plugin new <name>`: creates a plugin with its tests in a new folder.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { preset } from '../../../plugins/preset.ts'
import { action, JSON_FLAG } from '../action.ts'
import { failUsage } from '../fail.ts'
import { printJson, say } from '../output/table.ts'
import { pluginFiles } from './files.ts'

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

export const create = action({
  name: 'new',
  description: 'Write the beginning of a plugin, with tests, into a new folder.',
  args: {
    name: { type: 'positional', required: true, description: 'Name of the plugin, in kebab-case' },
    dir: { type: 'string', description: 'Folder to make; default: the name', valueHint: 'folder' },
    ...JSON_FLAG,
  },
  async run({ name: given, dir, json }) {
    const name = given.replace(/^hookgate-plugin-/, '')
    if (!NAME.test(name) || name.length > 64)
      failUsage(
        `\`${name.slice(0, 60)}\` cannot be the name of a plugin: lower-case words with dashes between them, as \`slow-log\`.`,
      )
    if (preset().some((plugin) => plugin.name === name))
      failUsage(`hookgate has a plugin \`${name}\` itself, and a gateway takes each name once. Choose another.`)
    const folder = resolve(dir ?? name)
    if (existsSync(folder)) throw new Error(`${folder} exists already. Name another one with --dir.`)
    mkdirSync(folder, { recursive: true })
    const files = Object.entries(pluginFiles(name))
    for (const [file, text] of files) writeFileSync(join(folder, file), text)
    if (json) return printJson({ name, folder, files: files.map(([file]) => file) })
    say.success(`Wrote ${folder}. Next: \`cd ${dir ?? name} && npm install && npm test\`.`)
    console.log(folder)
  },
})
