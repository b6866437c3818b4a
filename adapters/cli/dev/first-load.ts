// The first load of `hookgate dev`: on a terminal, files that do not load are loaded again when one of them changes.

import { readEnv } from '../../../core/config/env.ts'
import { FILE_VARIABLES } from '../../../core/config/variables.ts'
import { findConfig } from '../../node/loading/find-config.ts'
import { loadConfig } from '../../node/loading/load-config.ts'
import { type LoadedGateway, type LoadOptions, loadGateway } from '../../node/loading/load-gateway.ts'
import { watchFiles } from '../../node/loading/watch-files.ts'

/** @param failed gets each error before the wait. @throws Error when there is no file, or no terminal. */
export async function firstLoad(options: LoadOptions, failed: (error: Error) => void): Promise<LoadedGateway> {
  for (;;) {
    try {
      return await loadGateway(options)
    } catch (error) {
      const path = process.stderr.isTTY === true ? configOf(options) : null
      if (path === null) throw error
      const { next } = await watched(path)
      failed(error as Error)
      await next
    }
  }
}

function configOf({ flags = {} }: LoadOptions): string | null {
  try {
    const env = readEnv({ environment: process.env, flags, variables: FILE_VARIABLES })
    return findConfig(env.get<string | null>('CONFIG'), process.cwd())
  } catch {
    return null
  }
}

/** Resolves when the files are watched, to the promise of their next change. */
async function watched(path: string): Promise<{ readonly next: Promise<void> }> {
  let notice = (): void => {}
  const change = new Promise<void>((resolve) => {
    notice = resolve
  })
  const files = watchFiles(() => notice())
  const paths = new Set([path])
  files.follow(paths)
  await loadConfig(path, (graph) => {
    for (const each of [...graph.files.keys(), ...graph.missing]) paths.add(each)
    files.follow(paths)
  }).catch(() => {})
  return { next: change.then(() => files.stop()) }
}
