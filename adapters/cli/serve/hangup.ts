// Handles SIGHUP: a service manager sends it to reload, and the system sends it when a terminal is closed.
import { closeSync, openSync } from 'node:fs'

/**
 * Calls `reload` on SIGHUP. A server that was started on a terminal drains as after SIGTERM when its terminal was closed: otherwise it
 * would keep its port, and no one could see it.
 */
export function onHangup(reload: () => void): void {
  const startedOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  process.on('SIGHUP', () => {
    if (startedOnTerminal && !hasTerminal()) process.kill(process.pid, 'SIGTERM')
    else reload()
  })
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
