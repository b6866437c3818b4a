// Media and formats: images inline and by URL, PDF files, files stored at a vendor, answers under a schema.
import type { Dialect } from '../../../core/types/request/canonical.ts'
import type { Cell } from '../cell.ts'
import { ask, type Piece, user } from '../neutral.ts'
import { FETCHED } from '../represent.ts'
import type { Feature } from './feature.ts'

const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n').toString('base64')

/** A stored file's id in each vendor's form. */
const FILE_IDS: Readonly<Record<Dialect, string>> = {
  chat: 'file-Ab12Cd34Ef56',
  messages: 'file_011CNha8iCJcU1wXNR6q4V8w',
  responses: 'file-Ab12Cd34Ef56',
  generate_content: 'files/abc123',
}

function showing(id: string, title: string, what: Piece | ((cell: Cell) => Piece)): Feature {
  return {
    id,
    title,
    async run(cell) {
      const piece = typeof what === 'function' ? what(cell) : what
      await cell.exchange(ask({ turns: [user('What is in here?', piece)] }), { text: 'One single pixel, quite alone.' })
    },
  }
}

export const image = showing('image', 'image input', FETCHED)
export const imageUrl = showing('image_url', 'image by address', { t: 'image_url', url: 'https://example.com/pixel.png' })
export const pdf = showing('pdf', 'PDF input', { t: 'pdf', data: PDF, filename: 'report.pdf' })
export const file = showing('file', 'file stored at the vendor', (cell) => ({ t: 'file', id: FILE_IDS[cell.caller] }))

export const schema: Feature = {
  id: 'schema',
  title: 'answer under a JSON schema',
  async run(cell) {
    const shape = {
      type: 'object',
      properties: { city: { type: 'string' }, degrees: { type: 'number' } },
      required: ['city', 'degrees'],
      additionalProperties: false,
    }
    await cell.exchange(ask({ turns: [user('Rome, 21 degrees.')], schema: shape }), { text: '{"city":"Rome","degrees":21}' })
  },
}
