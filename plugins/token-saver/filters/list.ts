// Lists the filters in order: the first enabled one that recognizes an output applies.
import { buildLog } from './build-log.ts'
import { dedupLog } from './dedup-log.ts'
import type { Filter } from './filter.ts'
import { find } from './find.ts'
import { gitDiff } from './git-diff.ts'
import { gitLog } from './git-log.ts'
import { gitStatus } from './git-status.ts'
import { grep } from './grep.ts'
import { ls } from './ls.ts'
import { readNumbered } from './read-numbered.ts'
import { searchList } from './search-list.ts'
import { smartTruncate } from './smart-truncate.ts'
import { testRun } from './test-run.ts'
import { tree } from './tree.ts'

export const FILTERS: readonly Filter[] = [
  gitDiff,
  gitStatus,
  gitLog,
  grep,
  find,
  tree,
  ls,
  searchList,
  testRun,
  buildLog,
  readNumbered,
  dedupLog,
  smartTruncate,
]

/** They hide text that an agent requested. */
export const OFF_BY_DEFAULT: readonly string[] = [readNumbered.id, smartTruncate.id]
