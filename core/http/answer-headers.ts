// What every answer says to browsers, caches and whoever looks for it in the logs, beside its content.

/** The data plane writes the same (core/pipeline/reply.ts), with its dialect's name for the second id. */
export function answerHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    'x-gateway-request-id': requestId,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
}
