// Words for people go to stderr; stdout carries the result alone, so that `KEY=$(hookgate key create)` works.
import { createConsola } from 'consola'

export const say = createConsola({ level: 3, throttle: 0, stdout: process.stderr, stderr: process.stderr })

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}
