// The conformance kit refuses each faulty plugin with a message that names its fault.
import { describe, expect, it } from 'vitest'
import { pluginConformance } from '../../../adapters/testing/plugin-conformance/plugin-conformance.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { FAULTY } from './faulty-plugins.ts'

const STREAM_CASES = /^(?:a stream stays valid|chat: |no timer|chat, )/

async function messages(setup: (typeof FAULTY)[string]['setup']): Promise<string[]> {
  const failed: string[] = []
  const faulty = definePlugin({ name: 'under-test', setup })
  for (const { name, run } of pluginConformance(() => faulty(), { latencyMs: 1000 }))
    if (STREAM_CASES.test(name)) await Promise.resolve(run()).catch((error: Error) => failed.push(error.message))
  return failed
}

describe('the kit refuses a plugin that', () => {
  it.each(Object.entries(FAULTY))(
    '%s',
    async (_, { setup, named }) => {
      const failed = await messages(setup)
      expect(failed.join('\n')).toMatch(named)
    },
    60_000,
  )
})

it('and nothing of a plugin that does nothing', async () => expect(await messages(() => {})).toEqual([]), 60_000)
