// The signs of the classes in docs/conformance.md.
import type { Class } from './cell.ts'

export const SIGNS: Readonly<Record<Class, string>> = { lossless: '✓', converted: '⇄', warned: '⚠', refused: '✗' }
