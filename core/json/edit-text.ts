// Edits the text of a parsed answer.
import type { WireBody } from '../types/request/dialect.ts'

export interface TextEdits {
  editText(edit: (text: string) => string | null): boolean
}

/**
 * Makes an edit of `json()` also in the text of a parsed body. When `edit` returns null (place not found), nothing changes. Returns false
 * then, and for a body that was scanned or edited before. `edit` gets the start of a large text only.
 */
export function editText(body: WireBody, edit: (text: string) => string | null): boolean {
  return 'editText' in body && (body as WireBody & TextEdits).editText(edit)
}
