// Keeps the state of the proxy between starts: aliases, mapped hosts, and the places outside of its folder that it wrote to.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

export const aliasesSchema = z.record(z.string().min(1).max(64), z.record(z.string().min(1).max(300), z.string().min(1).max(300)))

const fileSchema = z.strictObject({
  /** By tool and the model that the tool names; `*` is every other model. */
  aliases: aliasesSchema,
  hosts: z.array(z.string()),
  /** Set while lines of ours may be in the hosts file, or our CA in the trust store. */
  written: z
    .strictObject({
      pid: z.int(),
      hostsFile: z.boolean(),
      ca: z.boolean(),
    })
    .nullable(),
})

export type InterceptionState = z.output<typeof fileSchema>

const EMPTY: InterceptionState = { aliases: {}, hosts: [], written: null }

export async function readState(folder: string): Promise<InterceptionState> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')))
  } catch {
    return EMPTY
  }
}

export async function writeState(folder: string, state: InterceptionState): Promise<void> {
  const path = join(folder, 'state.json')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(`${path}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
