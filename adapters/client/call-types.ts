// Derives the types of the client's calls from the OpenAPI document: what a route takes, and what it answers.
import type { paths } from './schema.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** The operation of a path and a method; never: the path has no such method. */
export type OperationAt<P extends keyof paths, M extends Method> = paths[P] extends { [K in M]: infer O } ? O : never

/** Paths that have the method. */
export type PathsWith<M extends Method> = {
  [P in keyof paths]: [OperationAt<P, M>] extends [never] ? never : P
}[keyof paths]

type Success<R> = R extends { 200: infer A } ? A : R extends { 201: infer A } ? A : never

/** The JSON of a body; never: there is none, or it is something else. */
type JsonIn<T> = [T] extends [never] ? never : T extends { content: { 'application/json': infer J } } ? J : never

/** The JSON answer of an operation; never: it answers something else, such as CSV or a stream. */
export type AnswerOf<O> = O extends { responses: infer R } ? JsonIn<Success<R>> : never

/** Paths that answer the method with JSON. */
export type JsonPaths<M extends Method> = {
  [P in keyof paths]: [AnswerOf<OperationAt<P, M>>] extends [never] ? never : P
}[keyof paths]

/** Paths that answer GET with a list. */
export type ListPaths = {
  [P in keyof paths]: AnswerOf<OperationAt<P, 'get'>> extends { data: readonly unknown[] } ? P : never
}[keyof paths] &
  JsonPaths<'get'>

/** A row of a list. */
export type ItemOf<P extends ListPaths> = AnswerOf<OperationAt<P, 'get'>> extends { data: readonly (infer T)[] } ? T : never

type ParametersOf<O, At extends 'path' | 'query'> = O extends { parameters: { [K in At]?: infer X } } ? NonNullable<X> : never

type BodyOf<O> = O extends { requestBody?: infer R } ? JsonIn<NonNullable<R>> : never

/** Parameters are texts on the wire: a number or a truth value may be given for a free text. */
type Sent<T> = { [K in keyof T]: string extends T[K] ? T[K] | number | boolean : T[K] }

/** `Name` is required where T has required members, optional where it has none, and absent where T is never. */
type Member<Name extends string, T> = [T] extends [never]
  ? { readonly [K in Name]?: undefined }
  : Record<never, never> extends T
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T }

export interface CallSettings {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** The options of a call: parameters of its path, its query, its JSON body. */
export type CallOptions<O> = CallSettings &
  Member<'path', Sent<ParametersOf<O, 'path'>>> &
  Member<'query', Sent<ParametersOf<O, 'query'>>> &
  Member<'body', BodyOf<O>>

/** The options argument. It may be left out where every member is optional. */
export type OptionsArgument<O> =
  Record<never, never> extends CallOptions<O> ? [options?: CallOptions<O>] : [options: CallOptions<O>]

/** A call as it is sent, without the types of its route. */
export interface UntypedCall extends CallSettings {
  readonly path?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}
