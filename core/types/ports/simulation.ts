// Types of the port that runs simulations of the configuration file.
import type { JsonObject } from '../request/canonical.ts'

export interface SimulationInput {
  /** JSON lines, as `hookgate simulate` reads them. */
  readonly script: string
  readonly maxRequests: number
  /** A virtual model as the file declares it; it replaces the one with its name. */
  readonly virtualModel: { readonly name: string; readonly declaration: JsonObject } | null
}

export type SimulationOutcome =
  /** As `hookgate simulate --json` prints it. */
  { readonly text: string } | { readonly fault: 'script' | 'configuration' | 'time'; readonly message: string }

/** Runs the configuration file against a script, on simulated time and beside the serving thread. It sends and stores nothing. */
export type Simulator = (input: SimulationInput) => Promise<SimulationOutcome>
