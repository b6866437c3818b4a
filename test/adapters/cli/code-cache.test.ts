// The folder in which Node keeps compiled code between starts.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { keepCompiledCode } from '../../../adapters/cli/code-cache.ts'
import { built, folder, hookgateRoot } from './hookgate.ts'

const MAIN = join(hookgateRoot, 'dist/adapters/cli/main.js')
beforeAll(built)

const supported = 'enableCompileCache' in module

function folderFor(environment: NodeJS.ProcessEnv): string | null {
  let chosen: string | null = null
  keepCompiledCode(environment, (path) => {
    chosen = path
  })
  return chosen
}

const version = (environment: NodeJS.ProcessEnv) =>
  execFileSync(process.execPath, [MAIN, '--version'], { env: { ...process.env, ...environment }, encoding: 'utf8' }).trim()

describe('compiled code', () => {
  it('is kept in the cache folder of the user', () => {
    expect(folderFor({})).toBe(join(homedir(), '.cache/hookgate'))
    expect(folderFor({ XDG_CACHE_HOME: '/var/cache/user' })).toBe('/var/cache/user/hookgate')
  })

  it('is kept by Node 22.1 and later, and only under that folder', () => {
    const cache = folder({})
    const without = version({ XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: '1' })
    expect(readdirSync(cache)).toEqual([])
    expect(version({ XDG_CACHE_HOME: cache })).toBe(without)
    expect(existsSync(join(cache, 'hookgate'))).toBe(supported)
    expect(version({ XDG_CACHE_HOME: cache })).toBe(without)
  })

  it('does not stop the command line when the folder cannot be written', () => {
    const file = join(folder({}), 'file')
    writeFileSync(file, '')
    expect(version({ XDG_CACHE_HOME: file })).toMatch(/^\d+\.\d+\.\d+/)
  })
})
