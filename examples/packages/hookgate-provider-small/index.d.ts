import type { Plugin } from 'hookgate'

export declare const small: (options: {
  /** The base URL of the server. */
  baseUrl: string
}) => Plugin
export default small
