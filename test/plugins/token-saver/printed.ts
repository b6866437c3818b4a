// What tools print, as they print it.

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const lines = (...parts: (string | readonly string[])[]): string => parts.flat().join('\n')

export const GIT_DIFF = lines(
  'diff --git a/src/server.ts b/src/server.ts',
  'index 83db48f..bf269f4 100644',
  '--- a/src/server.ts',
  '+++ b/src/server.ts',
  '@@ -10,7 +10,8 @@ export function serve(port: number) {',
  '   const app = express()',
  '   app.use(json())',
  '   app.use(cors())',
  '-  app.listen(port)',
  '+  const server = app.listen(port, host)',
  '+  server.requestTimeout = 30_000',
  '   return app',
  ' }',
  ' ',
  'diff --git a/package-lock.json b/package-lock.json',
  'index 1111111..2222222 100644',
  '--- a/package-lock.json',
  '+++ b/package-lock.json',
  `@@ -1,400 +1,401 @@`,
  times(200, (at) => `     "dependency-${at}": "^1.${at}.0",`),
  '+    "left-pad": "^1.3.0",',
  times(200, (at) => `     "dependency-${at + 200}": "^2.${at}.0",`),
  'diff --git a/old.txt b/old.txt',
  'deleted file mode 100644',
  'index e69de29..0000000',
)

export const GIT_STATUS = lines(
  'On branch feature/limits',
  "Your branch is ahead of 'origin/feature/limits' by 2 commits.",
  '  (use "git push" to publish your local commits)',
  '',
  'Changes to be committed:',
  '  (use "git restore --staged <file>..." to unstage)',
  '\tnew file:   src/limits.ts',
  '\tmodified:   src/server.ts',
  '',
  'Changes not staged for commit:',
  '  (use "git add <file>..." to update what will be committed)',
  '  (use "git restore <file>..." to discard changes in working directory)',
  times(4, (at) => `\tmodified:   src/part-${at}.ts`),
  '\tdeleted:    src/gone.ts',
  '',
  'Unmerged paths:',
  '  (use "git add <file>..." to mark resolution)',
  '\tboth modified:   src/merge.ts',
  '',
  'Untracked files:',
  '  (use "git add <file>..." to include in what will be committed)',
  times(40, (at) => `\tscratch/note-${at}.md`),
  '',
  'no changes added to commit (use "git add" and/or "git commit -a")',
)

export const PORCELAIN = lines(
  '## main...origin/main [ahead 1]',
  times(30, (at) => ` M packages/core/src/module-${at}.ts`),
  'M  packages/core/package.json',
  'UU packages/core/src/conflict.ts',
  times(30, (at) => `?? tmp/dump-${at}.json`),
)

export const GIT_LOG = lines(
  times(12, (at) => [
    `commit ${`${at}`.padStart(2, '0')}a1b2c3d4e5f60718293a4b5c6d7e8f90123456`,
    'Author: Ada Lovelace <ada@example.com>',
    `Date:   Mon Jan ${at + 1} 10:00:00 2026 +0100`,
    '',
    `    Subject of change ${at}`,
    '    ',
    '    A longer explanation of what was done and why, over',
    '    several lines, as good commits have it.',
    '',
  ]).flat(),
)

export const GREP = lines(
  times(30, (at) => `src/http/router.ts:${at * 3 + 1}:  router.get('/v1/things/${at}', handler${at})`),
  times(8, (at) => `src/http/handlers/thing.ts:${at * 7 + 2}:export const handler${at} = () => undefined`),
  'src/app.ts:5:import { router } from "./http/router"',
)

export const FIND = lines(
  times(60, (at) => `./src/components/button/variants/variant-${at}.tsx`),
  times(9, (at) => `./src/pages/page-${at}.tsx`),
  './package.json',
)

export const TREE = lines(
  '.',
  '├── package.json',
  '├── src',
  '│   ├── index.ts',
  '│   ├── server',
  times(20, (at) => `│   │   ├── route-${at}.ts`),
  '│   │   └── last.ts',
  '│   └── util.ts',
  '└── README.md',
  '',
  '3 directories, 25 files',
)

export const LS = lines(
  'total 312',
  'drwxr-xr-x  14 ada  staff    448 Jan  3 10:00 .',
  'drwxr-xr-x  31 ada  staff    992 Jan  2 09:00 ..',
  'drwxr-xr-x   9 ada  staff    288 Jan  3 10:00 .git',
  'drwxr-xr-x 420 ada  staff  13440 Jan  3 10:00 node_modules',
  'drwxr-xr-x   8 ada  staff    256 Jan  3 10:00 src',
  '-rw-r--r--   1 ada  staff   1071 Jan  1  2025 LICENSE',
  '-rw-r--r--   1 ada  staff   2210 Jan  3 10:00 package.json',
  '-rw-r--r--   1 ada  staff     77 Jan  3 10:00 with two  spaces.txt',
  'lrwxr-xr-x   1 ada  staff     11 Jan  3 10:00 current -> releases/12',
  times(24, (at) => `-rw-r--r--   1 ada  staff   ${1000 + at} Jan  3 10:00 report-${at}.csv`),
)

export const SEARCH_LIST = lines(
  "Result of search in '/home/ada/project' (total 45 files):",
  times(45, (at) => `- /home/ada/project/src/features/account/view-${at}.vue`),
)

export const VITEST = lines(
  ' RUN  v4.0.0 /home/ada/project',
  '',
  times(60, (at) => ` ✓ test/unit/module-${at}.test.ts (${at + 3} tests) ${at * 2}ms`),
  ' ❯ test/unit/limits.test.ts (4 tests | 1 failed) 12ms',
  '   ✓ counts requests 2ms',
  '   × forgets after a minute 7ms',
  '     → expected 3 to be 0 // Object.is equality',
  '',
  ' FAIL  test/unit/limits.test.ts > forgets after a minute',
  'AssertionError: expected 3 to be 0 // Object.is equality',
  ' ❯ test/unit/limits.test.ts:41:23',
  '',
  ' Test Files  1 failed | 60 passed (61)',
  '      Tests  1 failed | 1950 passed (1951)',
  '   Duration  4.21s',
)

export const GO_TEST = lines(
  times(40, (at) => [`=== RUN   TestCase${at}`, `--- PASS: TestCase${at} (0.00s)`]).flat(),
  '=== RUN   TestExpiry',
  '    expiry_test.go:52: got 3, want 0',
  '--- FAIL: TestExpiry (0.01s)',
  'FAIL',
  'FAIL\texample.com/limits\t0.412s',
  'ok  \texample.com/other\t0.100s',
)

export const PYTEST = lines(
  '============================= test session starts ==============================',
  times(30, (at) => `tests/test_limits.py::test_case_${at} PASSED                          [ ${at + 1}%]`),
  'tests/test_limits.py::test_expiry FAILED                          [ 31%]',
  '=================================== FAILURES ===================================',
  '>       assert window.count == 0',
  'E       assert 3 == 0',
  'tests/test_limits.py:52: AssertionError',
  '========================= 1 failed, 30 passed in 0.42s =========================',
)

export const BUILD = lines(
  times(80, (at) => `   Compiling crate-${at} v0.${at}.1`),
  'warning: unused variable: `count`',
  '  --> src/lib.rs:7:9',
  '   |',
  '7  |     let count = 0;',
  '   |         ^^^^^ help: prefix it with an underscore: `_count`',
  '',
  times(30, (at) => `   Compiling other-${at} v0.${at}.1`),
  'error[E0308]: mismatched types',
  '  --> src/main.rs:14:18',
  '   |',
  '14 |     let port: u16 = "8788";',
  '   |               ---   ^^^^^^ expected `u16`, found `&str`',
  '',
  times(25, (at) => `   Compiling tail-${at} v0.${at}.1`),
  'error: could not compile `project` (bin "project") due to 1 previous error; 1 warning emitted',
)

export const TSC = lines(
  times(60, (at) => `[${at + 1}/60] building package-${at} ...`),
  "packages/core/src/app.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  times(40, (at) => `[${at + 1}/40] linking package-${at} ...`),
  'Found 1 error in packages/core/src/app.ts:14',
)

export const NUMBERED = lines(times(600, (at) => `${`${at + 1}`.padStart(6)}→  const line${at + 1} = ${at + 1}`))

export const LOG = lines(
  '10:00:00 starting worker',
  times(120, () => '10:00:01 connection refused, trying again'),
  '',
  '10:00:31 ERROR gave up on 10.0.0.7:5432',
  times(50, () => '10:00:32 heartbeat'),
  '10:00:40 stopped',
)

export const LONG = lines(
  times(300, (at) => `row ${at}: nothing of interest happened here`),
  'row 300: panic: index out of range at worker.go:88',
  times(300, (at) => `row ${at + 301}: nothing of interest happened here`),
)
