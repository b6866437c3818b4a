// Watches the files of a configuration. The set of files may change with each load.
import { type FSWatcher, lstatSync, realpathSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

export interface FileWatch {
  /** Watches these paths from now on. A path without extension matches each file that begins with it. */
  follow(paths: Iterable<string>): void
  stop(): void
}

/** Time after the last write of a burst, ms. */
const SETTLE_MS = 100

/** Calls `changed` after a file was written, once per burst. */
export function watchFiles(changed: () => void): FileWatch {
  // Watches folders: editors replace files, and a watcher of a file would stay with the old one.
  const folders = new Map<string, { watcher: FSWatcher; files: Map<string, string | null> }>()
  let timer: NodeJS.Timeout | null = null

  const notice = (folder: string, name: string | null): void => {
    const files = folders.get(folder)?.files
    if (files === undefined) return
    let hit = name === null
    for (const [file, target] of files) {
      if (name !== null && (name === file || (!file.includes('.') && name.startsWith(`${file}.`)))) hit = true
      if (target === null) continue
      const now = targetOf(`${folder}/${file}`)
      if (now !== target) hit = true
      files.set(file, now)
    }
    if (!hit) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  }

  const open = (folder: string): FSWatcher | null => {
    try {
      return watch(folder, (_event, name) => notice(folder, name)).on('error', () => {})
    } catch {
      return null // The file does not exist.
    }
  }

  return {
    follow(paths) {
      const wanted = new Map<string, Map<string, string | null>>()
      for (const path of paths) {
        const files = wanted.get(dirname(path)) ?? new Map<string, string | null>()
        wanted.set(dirname(path), files.set(basename(path), targetOf(path)))
      }
      for (const [folder, { watcher }] of folders) {
        if (wanted.has(folder)) continue
        watcher.close()
        folders.delete(folder)
      }
      for (const [folder, files] of wanted) {
        const watcher = folders.get(folder)?.watcher ?? open(folder)
        if (watcher !== null) folders.set(folder, { watcher, files })
      }
    },
    stop() {
      if (timer !== null) clearTimeout(timer)
      for (const { watcher } of folders.values()) watcher.close()
      folders.clear()
    },
  }
}

/** Returns null for a file that is not a link. A mounted ConfigMap is a link, and its change replaces a folder on the link's path. */
function targetOf(path: string): string | null {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return null
  try {
    return realpathSync(path)
  } catch {
    return ''
  }
}
