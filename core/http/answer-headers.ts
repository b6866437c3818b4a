// Headers of every answer, for browsers, caches and log searches.

/** The data plane sends the same headers (core/pipeline/reply.ts), with its dialect's name for the second id. */
export function answerHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    'x-gateway-request-id': requestId,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
}
