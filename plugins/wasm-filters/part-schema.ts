// Schema of parts from a filter: every member by name, unknown members refused. The depth is limited before parsing.
import { z } from 'zod'
import type { Annotation, Ext, Json, Part, Signature, Source } from '../../core/types/request/canonical.ts'

/** Opaque JSON; `readAnswer` has limited it. */
export const json = z.custom<Json>((value) => value !== undefined, 'must be JSON')

const jsonObject = z.custom<{ [key: string]: Json }>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)

export const dialect = z.enum(['chat', 'messages', 'responses', 'generate_content'])

export const ext: z.ZodType<Ext> = z.strictObject({
  chat: jsonObject.optional(),
  messages: jsonObject.optional(),
  responses: jsonObject.optional(),
  generate_content: jsonObject.optional(),
})

export const cacheMark = z.strictObject({ ttl: z.enum(['5m', '1h', '30m']).optional() })

export const signature: z.ZodType<Signature> = z.strictObject({ dialect, modelFamily: z.string(), value: z.string() })

const source: z.ZodType<Source> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('url'), url: z.string(), mime: z.string().optional() }),
  z.strictObject({ kind: z.literal('base64'), data: z.string(), mime: z.string() }),
  z.strictObject({ kind: z.literal('file'), id: z.string(), provider: z.string().optional() }),
  z.strictObject({ kind: z.literal('uri'), uri: z.string(), mime: z.string().optional() }),
])

export const annotation: z.ZodType<Annotation> = z.strictObject({
  kind: z.enum(['url', 'file', 'char', 'page', 'block', 'search_result']),
  url: z.string().optional(),
  title: z.string().optional(),
  start: z.number().optional(),
  end: z.number().optional(),
  citedText: z.string().optional(),
  raw: json,
  dialect,
})

const common = { cache: cacheMark.optional(), ext: ext.optional() }
const text = z.string()
const optionalText = z.string().optional()

export const part: z.ZodType<Part> = z.lazy(() =>
  z.discriminatedUnion('t', [
    z.strictObject({
      ...common,
      t: z.literal('text'),
      text,
      annotations: z.array(annotation).optional(),
      signature: signature.optional(),
    }),
    z.strictObject({ ...common, t: z.literal('image'), src: source, detail: optionalText }),
    z.strictObject({
      ...common,
      t: z.literal('audio'),
      src: source,
      format: text,
      transcript: optionalText,
      id: optionalText,
    }),
    z.strictObject({ ...common, t: z.literal('video'), src: source, meta: json.optional() }),
    z.strictObject({
      ...common,
      t: z.literal('document'),
      src: z.union([source, z.strictObject({ text }), z.strictObject({ parts })]),
      mime: optionalText,
      filename: optionalText,
      title: optionalText,
      context: optionalText,
      citations: z.boolean().optional(),
    }),
    z.strictObject({
      ...common,
      t: z.literal('tool_call'),
      id: text,
      idMinted: z.boolean(),
      name: text,
      namespace: optionalText,
      args: text,
      kind: z.enum(['function', 'custom']),
      itemId: optionalText,
      caller: json.optional(),
      signature: signature.optional(),
    }),
    z.strictObject({
      ...common,
      t: z.literal('tool_result'),
      callId: text,
      name: optionalText,
      parts,
      isError: z.boolean().optional(),
      json: json.optional(),
    }),
    z.strictObject({
      ...common,
      t: z.literal('reasoning'),
      text,
      summary: z.array(text).optional(),
      signature: signature.optional(),
      encrypted: signature.optional(),
      redacted: optionalText,
      itemId: optionalText,
      display: z.literal('omitted').optional(),
    }),
    z.strictObject({ ...common, t: z.literal('refusal'), text, category: optionalText }),
    z.strictObject({ ...common, t: z.literal('server_tool'), dialect, kind: text, raw: json }),
    z.strictObject({ ...common, t: z.literal('opaque'), dialect, raw: json }),
  ]),
)

export const parts: z.ZodType<Part[]> = z.lazy(() => z.array(part))
