// Tests of the dashboard run under its content security policy: none may switch it off.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SWITCH = ['bypass', 'CSP'].join('')

it('no test switches the content security policy off', async () => {
  const names = (await readdir('test', { recursive: true })).filter((name) => name.endsWith('.ts'))
  expect(names.length).toBeGreaterThan(100)
  const texts = await Promise.all(names.map(async (name) => [name, await readFile(join('test', name), 'utf8')] as const))
  expect(texts.filter(([, text]) => text.includes(SWITCH)).map(([name]) => name)).toEqual([])
})
