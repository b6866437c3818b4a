// zod, except that a schema is built when it is first used. The bundle and the tests resolve `zod` to this file for the modules of hookgate.
// They declare some thousand schemas, of which a process uses few. A declared schema is as small as a remembered call; a built one is ten
// times that. Schemas of other copies of zod go together with these.
import { z as zod } from 'zod'

/** Functions that make a schema: those that hookgate uses, so that the bundle leaves out the rest of zod. */
const FACTORIES = {
  array: zod.array,
  base64: zod.base64,
  boolean: zod.boolean,
  custom: zod.custom,
  discriminatedUnion: zod.discriminatedUnion,
  enum: zod.enum,
  instanceof: zod.instanceof,
  int: zod.int,
  json: zod.json,
  lazy: zod.lazy,
  literal: zod.literal,
  looseObject: zod.looseObject,
  null: zod.null,
  number: zod.number,
  object: zod.object,
  partialRecord: zod.partialRecord,
  record: zod.record,
  strictObject: zod.strictObject,
  string: zod.string,
  tuple: zod.tuple,
  union: zod.union,
  unknown: zod.unknown,
  url: zod.url,
}

/** Their first argument is the shape of their schema. */
const OBJECTS = new Set<unknown>([zod.looseObject, zod.object, zod.strictObject])

/** Functions that run at once, with built schemas as arguments, and values. */
const OTHERS = { NEVER: zod.NEVER, ZodError: zod.ZodError, prettifyError: zod.prettifyError }

/** Methods of a schema that make another schema. Every other member builds the schema that it belongs to. */
const METHODS = new Set(
  `and array brand catch catchall check default describe email endsWith exclude extend extract gt gte includes int length loose lt lte
  max meta min multipleOf negative nonempty nonnegative nonoptional nonpositive nullable nullish omit optional or overwrite partial
  passthrough pick pipe positive prefault readonly refine regex required safeExtend startsWith strict strip superRefine toLowerCase
  toUpperCase transform trim`.split(/\s+/),
)

/** Methods whose schema contains the one before it, and inherits none of its data. */
const WRAPPERS = new Set([
  'array',
  'catch',
  'default',
  'nullable',
  'nullish',
  'optional',
  'pipe',
  'prefault',
  'readonly',
  'transform',
])

/** Methods that parse. Reading one, as a check does that asks whether a value is a schema, builds nothing. */
const PARSERS = new Set(['parse', 'parseAsync', 'safeParse', 'safeParseAsync'])

type Callable = (...args: unknown[]) => unknown

/** A call that makes a schema: of a function of zod, or of a method of the schema before it. */
interface Recipe {
  readonly from: Callable | Recipe
  readonly name: string
  readonly args: readonly unknown[]
  schema: Schema | undefined
  /** For zod itself: see `internals`. */
  internals: object | undefined
}

type Schema = Record<string | symbol, unknown> & { readonly _zod: object }

const RECIPE = Symbol('recipe')
const NONE: readonly unknown[] = []

const handler: ProxyHandler<Recipe> = {
  get(recipe, key) {
    if (key === RECIPE) return recipe
    if (key === '_zod') return internals(recipe)
    if (METHODS.has(key as string))
      return (...args: unknown[]) =>
        args.length === 0 && key === 'meta' ? metaOf(recipe) : deferred(recipe, key as string, args)
    if (key === 'shape' && recipe.schema === undefined && OBJECTS.has(recipe.from)) return recipe.args[0] ?? {}
    if (PARSERS.has(key as string))
      return (...args: unknown[]) => parsedDefault(recipe, key, args) ?? member(recipe, key)(...args)
    return member(recipe, key)
  },
  set: (recipe, key, value) => Reflect.set(built(recipe), key, value),
  has: (recipe, key) => Reflect.has(built(recipe), key),
  getPrototypeOf: (recipe) => Reflect.getPrototypeOf(built(recipe)),
}

function deferred(from: Callable | Recipe, name: string, args: readonly unknown[]): object {
  return new Proxy<Recipe>(
    { from, name, args: args.length === 0 ? NONE : args, schema: undefined, internals: undefined },
    handler,
  )
}

function member(recipe: Recipe, key: string | symbol): Callable {
  const schema = built(recipe)
  return Reflect.get(schema, key, schema) as Callable
}

/** Returns what zod has of a schema in its registry, without building a schema that has no such data. */
function metaOf(recipe: Recipe): unknown {
  const { from, name, args, schema } = recipe
  if (schema !== undefined || typeof from === 'function') return schema === undefined ? undefined : member(recipe, 'meta')()
  if (WRAPPERS.has(name)) return undefined
  if (name !== 'meta') return member(recipe, 'meta')()
  const { id: _id, ...inherited } = (metaOf(from) ?? {}) as Record<string, unknown>
  return { ...inherited, ...(args[0] as object) }
}

/** Methods that change neither what a schema accepts nor what it returns. */
const NOTES = new Set(['describe', 'meta'])

/** The result for no value, without building the schema, where its last call gives the default. A boot asks for hundreds of these. */
function parsedDefault(recipe: Recipe, key: string | symbol, [value]: readonly unknown[]): object | undefined {
  if (key !== 'safeParse' || value !== undefined) return undefined
  let last = recipe
  while (NOTES.has(last.name) && typeof last.from !== 'function') last = last.from
  const [given] = last.args
  if (last.name !== 'default' || typeof given === 'function' || typeof last.from === 'function') return undefined
  // An object is copied for each caller, as zod does.
  if (typeof given === 'object' && given !== null) return undefined
  return { success: true, data: given }
}

/** The calls that made a schema, from the first on; none for a schema of another copy of zod. */
export function callsOf(schema: unknown): readonly Pick<Recipe, 'name' | 'args'>[] {
  const calls: Recipe[] = []
  for (let call = recipeOf(schema); call !== undefined; call = typeof call.from === 'function' ? undefined : call.from)
    calls.unshift(call)
  return calls
}

function built(recipe: Recipe): Schema {
  if (recipe.schema !== undefined) return recipe.schema
  const { from, name } = recipe
  const args = name === 'lazy' ? recipe.args.map(readyLater) : recipe.args.map(ready)
  recipe.schema = (typeof from === 'function' ? from(...args) : member(from, name)(...args)) as Schema
  return recipe.schema
}

/**
 * Another copy of zod can have this schema inside one of its own. JSON Schema then treats it as it treats `z.lazy`, because it knows each
 * schema by its identity.
 */
function internals(recipe: Recipe): object {
  const schema = built(recipe)
  recipe.internals ??= Object.create(schema._zod, {
    parent: { value: undefined },
    processJSONSchema: {
      value(context: JsonContext, _json: unknown, params: ProcessParams) {
        zod.core.processSchema(schema as never, context, params)
        for (const [known, seen] of context.seen) if (recipeOf(known) === recipe) seen.ref = schema as never
      },
    },
  }) as object
  return recipe.internals
}

type JsonContext = Parameters<typeof zod.core.processSchema>[1]
type ProcessParams = Parameters<typeof zod.core.processSchema>[2]

/** Returns the argument with built schemas: itself, or the members of a list or a shape. */
function ready(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null) return argument
  const recipe = recipeOf(argument)
  if (recipe !== undefined) return built(recipe)
  if (Array.isArray(argument)) return argument.some(recipeOf) ? argument.map(ready) : argument
  if (!Object.values(argument).some(recipeOf)) return argument
  return Object.fromEntries(Object.entries(argument).map(([key, value]) => [key, ready(value)]))
}

function readyLater(argument: unknown): unknown {
  return typeof argument === 'function' ? () => ready(argument()) : argument
}

function recipeOf(value: unknown): Recipe | undefined {
  return typeof value === 'object' && value !== null ? (value as { [RECIPE]?: Recipe })[RECIPE] : undefined
}

function deferring(factories: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(factories) as [string, Callable][]
  return Object.fromEntries(entries.map(([name, make]) => [name, (...args: unknown[]) => deferred(make, name, args)]))
}

/** As zod's own, with the members above. */
export const z = {
  ...OTHERS,
  ...deferring(FACTORIES),
  coerce: deferring({ number: zod.coerce.number }),
  iso: deferring({ date: zod.iso.date, datetime: zod.iso.datetime }),
  toJSONSchema: (schema: unknown, ...options: unknown[]) => (zod.toJSONSchema as Callable)(ready(schema), ...options),
} as unknown as typeof zod
