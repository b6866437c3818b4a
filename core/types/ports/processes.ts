// Type of the processes of this machine, as core and plugins see them.

export interface Processes {
  /** Returns false when no process with this pid runs any more. A pid may be used again: then it is true for another process. */
  runs(pid: number): boolean
}
