// The lines of `hookgate --help` are those of the commands.
import { expect, it } from 'vitest'
import { ABOUTS } from '../../../adapters/cli/abouts.ts'
import { COMMANDS } from '../../../adapters/cli/commands.ts'

it('each command without subcommands has the first sentence of its description', async () => {
  const described: Record<string, string | undefined> = {}
  for (const [name, entry] of Object.entries(COMMANDS)) {
    if (typeof entry !== 'function') continue
    const { meta } = await entry()
    const { description } = (await (typeof meta === 'function' ? meta() : meta)) ?? {}
    described[name] = description?.split(/(?<=\.) /)[0]
  }
  expect(ABOUTS).toEqual(described)
})
