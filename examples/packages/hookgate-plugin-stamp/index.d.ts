import type { Plugin } from 'hookgate'

export interface StampOptions {
  /** The value of the header. */
  deployment: string
  /** Default `x-deployment`. */
  header?: string
}

export declare const stamp: (options: StampOptions) => Plugin
export default stamp
