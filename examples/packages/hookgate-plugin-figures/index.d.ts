import type { Plugin } from 'hookgate'

export declare const figures: () => Plugin
export default figures
